"""The pages that begin a login, on which a tester chooses the person who confirms it.

A website has a QR code. The page of an official account works in the browser of WeChat only; the
simulator knows it as a website, too.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.platform_app import redirect_back
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.registry import WEBSITE

SCOPES: Final = {"/connect/qrconnect": "snsapi_login", "/connect/oauth2/authorize": "snsapi_userinfo"}
"""The scopes by the paths of the pages."""


def qr_page(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("qr_page", __name__)

    @routes.before_request
    def refuse_wrong_parameters() -> ResponseReturnValue | None:
        if problem := _problem(platform, request.args):
            return render_template("problem.html", problem=problem), HTTPStatus.BAD_REQUEST
        return None

    @routes.get("/connect/qrconnect")
    @routes.get("/connect/oauth2/authorize")
    def show() -> ResponseReturnValue:
        return _page(platform)

    @routes.post("/connect/qrconnect")
    @routes.post("/connect/oauth2/authorize")
    def decide() -> ResponseReturnValue:
        if request.form.get("decision") != "confirm":
            return redirect_back({}) if platform.denial_redirects else render_template("denied.html")
        if request.form.get("person") not in platform.people:
            return _page(platform, problem="Choose who scans."), HTTPStatus.BAD_REQUEST
        return redirect_back({"code": platform.scan(request.args["appid"], request.form["person"])})

    return routes


def _problem(platform: Platform, query: Mapping[str, str]) -> str | None:
    app = platform.apps.get(query.get("appid", ""))
    if app is None or app.kind != WEBSITE:
        return "The appid does not belong to a website."
    if urlsplit(query.get("redirect_uri", "")).hostname != app.domain:
        return "The redirect_uri is not on the approved domain."
    if query.get("response_type") != "code" or query.get("scope") != SCOPES[request.path]:
        return "The response_type or the scope is wrong."
    if "oauth2" in request.path and "MicroMessenger" not in request.user_agent.string:
        return "Open the link in WeChat."
    return None


def _page(platform: Platform, problem: str | None = None) -> str:
    return render_template(
        "scan.html",
        app=platform.apps[request.args["appid"]],
        people=platform.people.values(),
        action=request.full_path,
        problem=problem,
    )
