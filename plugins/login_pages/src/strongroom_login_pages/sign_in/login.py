"""The login page, on which a login begins."""

from dataclasses import dataclass
from typing import Any, Final

from strongroom.plugin_api.browser import is_local_path
from strongroom.plugin_api.forms import PagePart
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.captchas import REFUSED, captcha_member, requests_picture
from strongroom_login_pages.front_ends.returns import FrontEnds
from strongroom_login_pages.sign_in import code_login
from strongroom_login_pages.sign_in.attempt import PROOF
from strongroom_login_pages.sign_in.links import LinkOrder, ShownLinks
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.sign_in.second_factor import answer_of, answered
from strongroom_login_pages.sign_in.ways import PASSWORD, last_way, way_of, ways_of
from strongroom_login_pages.texts import error_text, known_text, password_text
from strongroom_login_pages.visit import LoginVisit, Routes

HINT: Final = "loginHint"
"""The parameter with the name that the page fills in."""

MAX_HINT: Final = 255

NAME: Final = "name"
"""The way of a form that has only a name, which decides what follows."""

_PURPOSE: Final = "login"
_CHANGE: Final = "error.password-change-required"
_NAMES: Final = ("name", "email", "mobile", "username")
_OF_NO_FIELD: Final = frozenset(
    {
        *REFUSED,
        "captcha-by-browser",
        "captcha-by-person",
        "error.too-many-requests",
        "error.unavailable",
        "form-expired",
    }
)
"""The texts of refusals that are no fault of the name or the password."""

_NEW_REFUSED: Final = ("error.validation-failed", "error.invalid-credentials")

_APPS: Final = (
    "MicroMessenger",
    "DingTalk",
    "Lark",
    "Feishu",
    "wxwork",
    "AlipayClient",
    " QQ/",
    "; wv)",
)
"""Words in the User-Agent of browsers in apps, which some ways to log in refuse."""


@dataclass(slots=True, eq=False, repr=False)
class Login:
    """The page on which a login begins."""

    _progress: LoginProgress
    _front_ends: FrontEnds
    _links: LinkOrder

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", "/login"): self.show,
            ("POST", "/login"): self.log_in,
            ("POST", "/another-way"): self.take_another_way,
        }

    def show(self, visit: LoginVisit) -> Any:
        """Show the form. A front end passes ``returnUrl``, ``state`` and ``codeChallenge``."""
        if "returnUrl" in visit.request.args:
            return_to = self._front_ends.request_of(visit.request.args)
            if return_to is None:
                return visit.fail(400, "return-url-invalid", "return-url-invalid-hint")
            visit.update(return_to=return_to, resume=None)
        elif is_local_path(resume := visit.request.args.get("resume", "")):
            visit.update(return_to=None, resume=resume)
        flash, hint = visit.take_flash(), visit.request.args.get(HINT, "")[:MAX_HINT]
        values = {"username": hint} if hint else {}
        return self._form(visit, flash=flash, notice=flash.notice, problem=flash.problem, **values)

    def show_expired(self, visit: LoginVisit) -> Any:
        """Show a fresh form in place of one that is no longer valid, with the name that was entered."""
        # Another form of the browser has logged in, such as another tab's.
        return visit.redirect("/login") if visit.token else self._form(visit, "form-expired")

    def log_in(self, visit: LoginVisit) -> Any:
        """Log in by a factor such as a passkey, or by a password, or begin the login by a code."""
        username = visit.form.get("username", "")
        if (view := answered(visit)) is not None:
            answer = {"id": visit.form.get("challenge", ""), **answer_of(visit)}
            return self._send(visit, way_of(view), "", {"challenge": answer})
        if visit.form.get("way") == NAME:
            return self._take_name(visit, username)
        if visit.form.get("way") == code_login.WAY:
            return self._begin_code(visit, username)
        return self._send(visit, PASSWORD, username, _password_login(visit))

    def take_another_way(self, visit: LoginVisit) -> Any:
        """Leave the login where it is, and show all ways again."""
        visit.switch(notice=None, problem=None)
        return visit.redirect("/login")

    def finish(self, visit: LoginVisit, response: RestResponse, resume: str | None, way: str) -> Any:
        """Go on after a login by another way, which a page of another plugin has begun."""
        if resume:
            visit.update(return_to=None, resume=resume)
        visit.update(attempt=visit.flow.attempt.taking(way))
        return self._progress.continue_with(visit, response)

    def _take_name(self, visit: LoginVisit, username: str) -> Any:
        """Go on to the ways of a name, or to the login that is required for it.

        A browser that comes back from there, such as while a provider is down, finds the ways: some
        users may take them nevertheless, and the server refuses the others after their proof.
        """
        visit.update(attempt=visit.flow.attempt.switched(username).at(PROOF))
        find_route = visit.host.pages.find_login_route
        route = find_route(username) if find_route else None
        if route is not None and route.is_required:
            return visit.redirect_within(route.path)
        return visit.redirect("/login")

    def _send(self, visit: LoginVisit, way: str, username: str, body: dict[str, Any]) -> Any:
        visit.update(attempt=visit.flow.attempt.taking(way, username))
        response = visit.rest("POST", "/authorizations", body)
        return self._progress.continue_with(visit, response, lambda: self._ask_again(visit, response))

    def _begin_code(self, visit: LoginVisit, username: str) -> Any:
        visit.update(attempt=visit.flow.attempt.taking(code_login.WAY, username))
        refusal = code_login.begin(visit, username)
        if refusal is None:
            return visit.redirect("/login/code")
        is_no_contact = refusal.error in ("error.validation-failed", "error.not-implemented")
        return self._form(visit, "recipient-invalid" if is_no_contact else error_text(refusal.error))

    def _ask_again(self, visit: LoginVisit, response: RestResponse) -> Any:
        """Return the form that follows a refused password: for a new one, or for the login."""
        error = response.error
        is_refused = "newPassword" in visit.form and error in _NEW_REFUSED
        if error == _CHANGE or is_refused:
            return _new_password_form(visit, password_text(error) if is_refused else None)
        if known_text(error) is None and error not in _NEW_REFUSED:
            # A condition of a plugin, which no other password meets.
            return self._progress.begin_again(visit, response)
        # After one captcha, the next attempt needs another.
        needs_captcha = error in REFUSED or "captcha" in visit.form
        captcha = visit.captcha(_PURPOSE) if needs_captcha else None
        text = "error.captcha-required" if requests_picture(visit) else _refusal_text(error, captcha)
        return self._form(visit, text, captcha=captcha)

    def _form(self, visit: LoginVisit, error: str | None = None, **values: Any) -> Any:
        username = visit.form.get("username", visit.flow.attempt.username)
        shown = {"notice": None, "problem": None, "captcha": None, "username": username, **values}
        ways, last, user = ways_of(visit.login_options), last_way(visit), _user(visit)
        find_route = visit.host.pages.find_login_route if ways.password else None
        is_named = "password" in visit.form or visit.flow.attempt.step == PROOF
        return visit.page(
            "sign_in/login.html",
            status=400 if error else 200,
            error=error,
            is_invalid=error is not None and error not in _OF_NO_FIELD,
            **self._shown_links(visit, last, has_form=ways.password or ways.codes is not None),
            ways=ways,
            asks_name=find_route is not None and not is_named,
            is_named=find_route is not None and is_named,
            route=find_route(shown["username"]) if find_route and is_named else None,
            last=last,
            user=user,
            is_app=visit.flow.return_to is not None and visit.flow.return_to.is_app,
            firsts=_first_factors(visit, last, is_autofilled=not user),
            resume=visit.flow.resume or f"{visit.root}/",
            **shown,
        )

    def _shown_links(self, visit: LoginVisit, last: str | None, *, has_form: bool) -> dict[str, Any]:
        links = self._links.ordered(visit.login_links())
        usable = [link for link in links if link.is_usable]
        user_agent = visit.request.user_agent.string
        is_in_app = any(word in user_agent for word in _APPS)
        return {
            "shown": ShownLinks.of(usable, user_agent, last, has_form=has_form),
            "needs_browser": bool(links) and not usable and is_in_app,
        }


def _refusal_text(error: str | None, captcha: PagePart | None) -> str:
    """Return the key of the text for a refused login."""
    if error in REFUSED and captcha is not None and captcha.is_automatic:
        return "captcha-by-browser"
    return "captcha-by-person" if error == "error.captcha-required" else error_text(error)


def _password_login(visit: LoginVisit) -> dict[str, Any]:
    names = ("username", "password", *(["newPassword"] if "newPassword" in visit.form else []))
    return {name: visit.form.get(name, "") for name in names} | captcha_member(visit, _PURPOSE)


def _new_password_form(visit: LoginVisit, error: str | None) -> Any:
    # The form asks for the former password again, so that no page and no cookie contains it.
    return visit.page(
        "sign_in/new_password.html",
        status=400,
        error=error,
        username=visit.form.get("username", ""),
    )


def _first_factors(visit: LoginVisit, last: str | None, *, is_autofilled: bool) -> list[PagePart]:
    """Return the forms of the factors that a login can begin with."""
    if not visit.login_options.is_passwordless:
        return []
    views = [view for view in visit.factor_views() if view.is_passwordless]
    parts = [
        visit.factor_part(
            view.kind, "login", {}, is_last=way_of(view) == last, is_autofilled=is_autofilled
        )
        for view in views
    ]
    return [part for part in parts if part is not None]


def _user(visit: LoginVisit) -> str | None:
    """Return the name of the user who is logged in, who may continue without another login."""
    # A front end needs a login of its own.
    if visit.token is None or visit.flow.return_to is not None:
        return None
    response = visit.rest("GET", "/users/me")
    if response.error is not None:
        return None
    user: dict[str, str | None] = response.json
    return next((name for member in _NAMES if (name := user.get(member))), user["id"])
