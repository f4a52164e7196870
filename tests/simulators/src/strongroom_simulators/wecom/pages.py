"""The two authorization pages, on which a tester chooses the person who confirms the login.

That of ``login.work.weixin.qq.com`` has a QR code for browsers. That of ``open.weixin.qq.com`` works in
the browser of WeCom only, which knows the person already; the simulator shows a choice there, too.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from flask import request
from flask.typing import ResponseReturnValue

from strongroom_simulators.choice_page import ChoicePage
from strongroom_simulators.platform_app import redirect_back
from strongroom_simulators.wecom.codes import BASE, PRIVATE
from strongroom_simulators.wecom.platform import Platform
from strongroom_simulators.wecom.refusals import MESSAGES, UNTRUSTED_DOMAIN
from strongroom_simulators.wecom.registry import Person, PlatformApp, Status

QR_PAGE: Final = "/wwlogin/sso/login"
IN_APP_PAGE: Final = "/connect/oauth2/authorize"

_STATE: Final = re.compile(r"[A-Za-z0-9]{0,128}")


class LoginPages(ChoicePage[Platform]):
    """The pages of WeCom."""

    paths = (QR_PAGE, IN_APP_PAGE)
    template = "login.html"
    choose = "Choose who confirms."

    def find_problem(self, query: Mapping[str, str]) -> str | None:
        app = self.platform.app(query.get("appid", ""), query.get("agentid"))
        if app is None:
            return "There is no app with this appid and agentid."
        if urlsplit(query.get("redirect_uri", "")).hostname not in app.domains:
            return f"{UNTRUSTED_DOMAIN}: {MESSAGES[UNTRUSTED_DOMAIN]}"
        if not _STATE.fullmatch(query.get("state", "")):
            return "The state must have at most 128 letters and digits."
        return _problem_of_qr(query) if request.path == QR_PAGE else _problem_in_app(query)

    def values(self) -> dict[str, Any]:
        return {"app": self._app(), "is_chinese": _language() == "zh"}

    def shows_qr_code(self) -> bool:
        return request.path == QR_PAGE

    def confirm(self, person: str) -> ResponseReturnValue:
        app, chosen = self._app(), self.platform.people[person]
        if denial := _denial(app, chosen):
            return self.refuse_request(denial)
        code = self.platform.confirm(app, person, request.args.get("scope", BASE))
        return redirect_back({"code": code})

    def deny(self) -> ResponseReturnValue:
        """Return the redirect of a refusal, which has the state alone."""
        return redirect_back({})

    def _app(self) -> PlatformApp:
        app: PlatformApp | None = self.platform.app(request.args["appid"], request.args.get("agentid"))
        assert app is not None  # checked before each request
        return app


def _problem_of_qr(query: Mapping[str, str]) -> str | None:
    if query.get("login_type") != "CorpApp" or "agentid" not in query:
        return "The login_type or the agentid is wrong."
    if query.get("lang", "zh") not in ("zh", "en"):
        return "The lang is wrong."
    return None


def _problem_in_app(query: Mapping[str, str]) -> str | None:
    scope = query.get("scope")
    if query.get("response_type") != "code" or scope not in (BASE, PRIVATE):
        return "The response_type or the scope is wrong."
    if scope == PRIVATE and "agentid" not in query:
        return "The scope snsapi_privateinfo requires the agentid."
    if "wxwork" not in request.user_agent.string:
        return "Open the link in WeCom."
    return None


def _denial(app: PlatformApp, person: Person) -> str | None:
    """Return why a person gets no code: only the page with the QR code is for members alone."""
    if app.is_member(person) and person.status in (Status.DISABLED, Status.LEFT):
        return "The account is disabled."
    if request.path == IN_APP_PAGE:
        return None
    if not app.is_member(person):
        return "You are not a member of this corporation."
    return None if app.is_visible_to(person) else "The app is not visible to you."


def _language() -> str:
    """Return the language of the page: without ``lang`` that of the browser, and Chinese by default."""
    chosen = request.args.get("lang") or request.accept_languages.best_match(["zh", "en"])
    return chosen or "zh"
