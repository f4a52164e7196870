"""The pages that begin a login, on which a tester chooses the person who confirms it.

A website has a QR code. The page of an official account works in the browser of WeChat only; the
simulator knows it as a website, too.
"""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from flask import render_template, request
from flask.typing import ResponseReturnValue

from strongroom_simulators.choice_page import ChoicePage
from strongroom_simulators.platform_app import redirect_back
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.registry import WEBSITE

SCOPES: Final = {"/connect/qrconnect": "snsapi_login", "/connect/oauth2/authorize": "snsapi_userinfo"}
"""The scopes by the paths of the pages."""


class QRPage(ChoicePage[Platform]):
    """The pages of WeChat."""

    paths = tuple(SCOPES)
    template = "scan.html"
    choose = "Choose who scans."
    name_member = "nickname"

    def find_problem(self, query: Mapping[str, str]) -> str | None:
        app = self.platform.apps.get(query.get("appid", ""))
        if app is None or app.kind != WEBSITE:
            return "The appid does not belong to a website."
        if urlsplit(query.get("redirect_uri", "")).hostname != app.domain:
            return "The redirect_uri is not on the approved domain."
        if query.get("response_type") != "code" or query.get("scope") != SCOPES[request.path]:
            return "The response_type or the scope is wrong."
        if "oauth2" in request.path and "MicroMessenger" not in request.user_agent.string:
            return "Open the link in WeChat."
        return None

    def values(self) -> dict[str, Any]:
        return {"app": self.platform.apps[request.args["appid"]]}

    def shows_qr_code(self) -> bool:
        # The real page loads a picture, whose content no test needs.
        return False

    def confirm(self, person: str) -> ResponseReturnValue:
        return redirect_back({"code": self.platform.scan(request.args["appid"], person)})

    def deny(self) -> ResponseReturnValue:
        """Return the redirect of a refusal, or the page on which it ends."""
        return redirect_back({}) if self.platform.denial_redirects else render_template("denied.html")
