"""The QR code page of a website, on which a tester chooses the person who scans it."""

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

from flask import Blueprint, redirect, render_template, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.registry import WEBSITE


def qr_page(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("qr_page", __name__)

    @routes.before_request
    def refuse_wrong_parameters() -> ResponseReturnValue | None:
        if problem := _problem(platform, request.args):
            return render_template("problem.html", problem=problem), HTTPStatus.BAD_REQUEST
        return None

    @routes.get("/connect/qrconnect")
    def show() -> ResponseReturnValue:
        return _page(platform)

    @routes.post("/connect/qrconnect")
    def decide() -> ResponseReturnValue:
        if request.form.get("decision") != "confirm":
            return _back({}) if platform.denial_redirects else render_template("denied.html")
        if request.form.get("person") not in platform.people:
            return _page(platform, problem="Choose who scans."), HTTPStatus.BAD_REQUEST
        return _back({"code": platform.scan(request.args["appid"], request.form["person"])})

    return routes


def _problem(platform: Platform, query: Mapping[str, str]) -> str | None:
    app = platform.apps.get(query.get("appid", ""))
    if app is None or app.kind != WEBSITE:
        return "The appid does not belong to a website."
    if urlsplit(query.get("redirect_uri", "")).hostname != app.domain:
        return "The redirect_uri is not on the approved domain."
    if query.get("response_type") != "code" or query.get("scope") != "snsapi_login":
        return "The response_type or the scope is wrong."
    return None


def _page(platform: Platform, problem: str | None = None) -> str:
    return render_template(
        "scan.html",
        app=platform.apps[request.args["appid"]],
        people=platform.people.values(),
        action=request.full_path,
        problem=problem,
    )


def _back(answered: Mapping[str, str]) -> ResponseReturnValue:
    target = request.args["redirect_uri"]
    state = {"state": request.args["state"]} if "state" in request.args else {}
    separator = "&" if urlsplit(target).query else "?"
    return redirect(f"{target}{separator}{urlencode({**answered, **state})}")
