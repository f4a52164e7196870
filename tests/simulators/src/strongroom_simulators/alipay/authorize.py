"""The page that begins a login, on which a tester chooses the person who confirms it."""

from collections.abc import Mapping
from typing import Any, Final

from flask import request
from flask.typing import ResponseReturnValue

from strongroom_simulators.alipay.platform import Platform
from strongroom_simulators.choice_page import ChoicePage
from strongroom_simulators.platform_app import redirect_back

MAX_STATE: Final = 100
_SCOPES: Final = {"auth_user", "auth_base"}


class AuthorizePage(ChoicePage[Platform]):
    """The page of Alipay."""

    paths = ("/oauth2/publicAppAuthorize.htm",)
    name_member = "nick_name"
    own_browsers = ("AlipayClient",)

    def find_problem(self, query: Mapping[str, str]) -> str | None:
        app = self.platform.apps.get(query.get("app_id", ""))
        if app is None:
            return "The app_id is unknown."
        if query.get("redirect_uri") not in app.redirect_uris:
            return "The redirect_uri is not registered."
        if query.get("scope") not in _SCOPES:
            return "The scope is wrong."
        if len(query.get("state", "")) > MAX_STATE:
            return "The state is too long."
        return None

    def values(self) -> dict[str, Any]:
        return {"app": request.args["app_id"]}

    def confirm(self, person: str) -> ResponseReturnValue:
        app_id, scope = request.args["app_id"], request.args["scope"]
        code = self.platform.authorize(app_id, person, scope=scope)
        return redirect_back(
            {"auth_code": code, "app_id": app_id, "source": "alipay_wallet", "scope": scope}
        )
