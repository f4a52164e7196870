"""The page that begins a login, on which a tester chooses the person who confirms it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import segno
from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from strongroom_simulators.alipay.platform import Platform
from strongroom_simulators.platform_app import redirect_back

PATH: Final = "/oauth2/publicAppAuthorize.htm"
MAX_STATE: Final = 100
_SCOPES: Final = {"auth_user", "auth_base"}


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
        if request.form.get("person") not in platform.people:
            return _page(platform, problem="Choose a person."), HTTPStatus.BAD_REQUEST
        app_id, scope = request.args["app_id"], request.args["scope"]
        code = platform.authorize(app_id, request.form["person"], scope=scope)
        return redirect_back(
            {"auth_code": code, "app_id": app_id, "source": "alipay_wallet", "scope": scope}
        )

    return routes


def _problem(platform: Platform, query: Mapping[str, str]) -> str | None:
    app = platform.apps.get(query.get("app_id", ""))
    if app is None:
        return "The app_id is unknown."
    if query.get("redirect_uri") not in app.redirect_uris:
        return "The redirect_uri is not registered."
    if query.get("scope") not in _SCOPES:
        return "The scope is wrong."
    if len(query.get("state", "")) > MAX_STATE:
        return "The state is too long."
    return None


def _page(platform: Platform, problem: str | None = None) -> str:
    is_in_app = "AlipayClient" in request.user_agent.string
    picture = None if is_in_app else Markup(segno.make(request.url).svg_inline(scale=2))
    return render_template(
        "authorize.html",
        app=platform.apps[request.args["app_id"]],
        people=platform.people.values(),
        action=request.full_path,
        picture=picture,
        problem=problem,
    )
