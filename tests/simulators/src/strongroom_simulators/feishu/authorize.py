"""The page that begins a login, on which a tester chooses the person who confirms it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import segno
from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from strongroom_simulators.feishu.codes import Challenge
from strongroom_simulators.feishu.platform import Platform
from strongroom_simulators.platform_app import redirect_back

PATH: Final = "/open-apis/authen/v1/authorize"
_METHODS: Final = ("S256", "plain")
_APPS: Final = ("Lark", "Feishu")
"""In the User-Agent of the platform's own browser, which shows no QR code."""


def authorize_page(platform: Platform) -> Blueprint:
    """Return the routes."""
    routes = Blueprint("authorize", __name__)

    @routes.before_request
    def refuse_wrong_parameters() -> ResponseReturnValue | None:
        if problem := _problem(platform, request.args):
            return render_template("problem.html", problem=problem), HTTPStatus.BAD_REQUEST
        return None

    @routes.get(PATH)
    def show() -> ResponseReturnValue:
        return _page(platform)

    @routes.post(PATH)
    def decide() -> ResponseReturnValue:
        if request.form.get("decision") != "confirm":
            return redirect_back({"error": "access_denied"})
        person = platform.people.get(request.form.get("person", ""))
        if person is None:
            return _page(platform, problem="Choose a person."), HTTPStatus.BAD_REQUEST
        app = platform.apps[request.args["client_id"]]
        if not platform.may_use(app, person):
            return _page(platform, problem=f"{person.name} may not use this app."), HTTPStatus.FORBIDDEN
        code = platform.authorize(
            app.app_id,
            person.id,
            redirect_uri=request.args["redirect_uri"],
            scope=request.args.get("scope", ""),
            challenge=_challenge(request.args),
        )
        return redirect_back({"code": code})

    return routes


def _problem(platform: Platform, query: Mapping[str, str]) -> str | None:
    app = platform.apps.get(query.get("client_id", ""))
    if app is None or not app.is_enabled:
        return "The client_id does not belong to an enabled app."
    if query.get("redirect_uri") not in app.redirect_uris:
        return "20029: the redirect_uri is not registered."
    if query.get("response_type") != "code":
        return "The response_type is wrong."
    if query.get("code_challenge_method", "plain") not in _METHODS:
        return "The code_challenge_method is wrong."
    if not set(query.get("scope", "").split()) <= app.scopes:
        return "20027: the app does not have a permission of the scope."
    return None


def _challenge(query: Mapping[str, str]) -> Challenge | None:
    value = query.get("code_challenge")
    return Challenge(value, query.get("code_challenge_method", "plain")) if value else None


def _page(platform: Platform, problem: str | None = None) -> str:
    is_in_app = any(name in request.user_agent.string for name in _APPS)
    picture = None if is_in_app else Markup(segno.make(request.url).svg_inline(scale=2))
    return render_template(
        "authorize.html",
        app=platform.apps[request.args["client_id"]],
        people=platform.people.values(),
        action=request.full_path,
        picture=picture,
        problem=problem,
    )
