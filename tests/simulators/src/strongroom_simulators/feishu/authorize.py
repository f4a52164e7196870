"""The page that begins a login, on which a tester chooses the person who confirms it."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from flask import request
from flask.typing import ResponseReturnValue

from strongroom_simulators.choice_page import ChoicePage
from strongroom_simulators.feishu.codes import Challenge
from strongroom_simulators.feishu.platform import Platform
from strongroom_simulators.platform_app import redirect_back

_METHODS: Final = ("S256", "plain")


class AuthorizePage(ChoicePage[Platform]):
    """The page of Feishu."""

    paths = ("/open-apis/authen/v1/authorize",)
    own_browsers = ("Lark", "Feishu")

    def find_problem(self, query: Mapping[str, str]) -> str | None:
        app = self.platform.apps.get(query.get("client_id", ""))
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

    def values(self) -> dict[str, Any]:
        return {"app": request.args["client_id"]}

    def confirm(self, person: str) -> ResponseReturnValue:
        app, chosen = self.platform.apps[request.args["client_id"]], self.platform.people[person]
        if not self.platform.may_use(app, chosen):
            problem = f"{chosen.name} may not use this app."
            return self.show(problem), HTTPStatus.FORBIDDEN
        code = self.platform.authorize(
            app.app_id,
            person,
            redirect_uri=request.args["redirect_uri"],
            scope=request.args.get("scope", ""),
            challenge=_challenge(request.args),
        )
        return redirect_back({"code": code})


def _challenge(query: Mapping[str, str]) -> Challenge | None:
    value = query.get("code_challenge")
    return Challenge(value, query.get("code_challenge_method", "plain")) if value else None
