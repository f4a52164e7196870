"""Login: the password or a passkey, then the second factor, then back to the front end."""

import json
import re
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.codes import LoginCodes
from strongroom_login_pages.options import LoginPagesOptions
from strongroom_login_pages.session import ReturnRequest
from strongroom_login_pages.visit import Visit, text_of

_CODE_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_MAX_OPTIONS: Final = 2000
_MAX_STATE: Final = 512
_CHALLENGE: Final = "error.second-factor-required"
_ENROLMENT: Final = "error.second-factor-enrolment-required"
_CAPTCHA: Final = ("error.captcha-required", "error.captcha-invalid")
_ABSENT: Final = (
    HTTPStatus.NOT_FOUND,
    HTTPStatus.METHOD_NOT_ALLOWED,
    HTTPStatus.NOT_IMPLEMENTED,
)
_FACTORS: Final = ("totp", "recoveryCode")


class LoginPages:
    """The pages until a user is logged in."""

    def __init__(self, options: LoginPagesOptions, codes: LoginCodes) -> None:
        self._return_urls = frozenset(options.return_urls)
        self._codes = codes
        self._offers_passkeys: bool | None = None

    def show_login(self, visit: Visit) -> Any:
        """Show the form. A front end passes ``returnUrl``, ``state`` and ``codeChallenge``."""
        if "returnUrl" in visit.request.args:
            return_to = self._return_request(visit)
            if return_to is None:
                return visit.page("error.html", status=400, reason="return-url-invalid")
            visit.session = visit.session.renewed(return_to=return_to)
        notice = visit.session.notice
        visit.update(notice=None)
        return self._login_form(visit, notice=notice)

    def log_in(self, visit: Visit) -> Any:
        """Log in by a passkey, or by a name and a password."""
        form = visit.form
        if "passkey" in form:
            answer = {"id": form.get("challenge", ""), "passkey": visit.json_field("passkey")}
            body: dict[str, Any] = {"challenge": answer}
        else:
            body = {name: form.get(name, "") for name in ("username", "password")}
            if form.get("captcha"):
                body["captcha"] = {"id": form["captcha"], "answer": form.get("captchaAnswer", "")}
        visit.update(token=None)
        response = visit.rest("POST", "/authorizations", body)
        return self.continue_with(visit, response, lambda: self._login_form(visit, response.error))

    def show_challenge(self, visit: Visit) -> Any:
        """Ask for the second factor."""
        return _challenge_form(visit) if visit.session.challenge else visit.redirect("/login")

    def meet_challenge(self, visit: Visit) -> Any:
        """Finish the login with a code of an app, or a recovery code."""
        challenge = visit.session.challenge
        if challenge is None:
            return visit.redirect("/login")
        body = {"challenge": {"id": challenge["id"], **answer_of(visit)}}
        response = visit.rest("POST", "/authorizations", body)
        if response.error == "error.challenge-invalid":
            visit.update(challenge=None, notice="error.challenge-invalid")
            return visit.redirect("/login")
        return self.continue_with(visit, response, lambda: _challenge_form(visit, response.error))

    def show_enrolment(self, visit: Visit) -> Any:
        """Offer the second factors; the user must enrol one of them before logging in."""
        if visit.session.enrolment is None:
            return visit.redirect("/login")
        notice, kinds = visit.session.notice, visit.session.enrolment["kinds"]
        visit.update(notice=None)
        return visit.page("enrolment.html", notice=notice, kinds=kinds)

    def continue_with(self, visit: Visit, response: RestResponse, ask_again: Callable[[], Any]) -> Any:
        """Go to the page that follows the response to a login."""
        if response.error is None:
            return self._finish(visit, response.json)
        if response.error == _CHALLENGE:
            visit.update(challenge=_kept(response.json["challenge"]), enrolment=None)
            return visit.redirect("/challenge")
        if response.error == _ENROLMENT:
            enrolment = {name: response.json["enrolment"][name] for name in ("id", "kinds")}
            visit.update(challenge=None, enrolment=enrolment)
            return visit.redirect("/enrolment")
        return ask_again()

    def _login_form(self, visit: Visit, error: str | None = None, notice: str | None = None) -> Any:
        captcha = visit.rest("POST", "/captchas", {}) if error in _CAPTCHA else None
        return visit.page(
            "login.html",
            status=400 if error else 200,
            error=_login_text(error, captcha) if error else None,
            notice=notice,
            username=visit.form.get("username", ""),
            captcha=captcha.json if captcha and captcha.error is None else None,
            passkeys=self._passkeys(visit),
        )

    def _passkeys(self, visit: Visit) -> bool:
        """Return whether the server logs in by passkeys, which the first page finds out."""
        if self._offers_passkeys is None:
            status = visit.rest("POST", "/authorizations/challenges", {}).status
            if status in (HTTPStatus.CREATED, *_ABSENT):
                self._offers_passkeys = status == HTTPStatus.CREATED
        return bool(self._offers_passkeys)

    def _finish(self, visit: Visit, tokens: dict[str, Any]) -> Any:
        """Return the login to the front end, or keep it in the session for the account pages."""
        session, return_to = visit.session, visit.session.return_to
        # A new secret for forms, because another person may have used the browser before.
        visit.session = session.renewed()
        if return_to is None:
            visit.update(token=tokens["accessToken"], due=tokens.get("secondFactorDueAt"))
            return visit.redirect("/")
        code = self._codes.issue(tokens, return_to.code_challenge)
        separator = "&" if "?" in return_to.url else "?"
        query = urlencode({"code": code, "state": return_to.state})
        return visit.redirect_to(f"{return_to.url}{separator}{query}")

    def _return_request(self, visit: Visit) -> ReturnRequest | None:
        given = visit.request.args
        request = ReturnRequest(
            given["returnUrl"], given.get("state", ""), given.get("codeChallenge", "")
        )
        is_valid = (
            request.url in self._return_urls
            and len(request.state) <= _MAX_STATE
            and _CODE_CHALLENGE.fullmatch(request.code_challenge)
        )
        return request if is_valid else None


def _login_text(error: str, captcha: RestResponse | None) -> str:
    """Return the key of the text for a login that has failed."""
    has_picture = captcha is not None and "image" in captcha.json
    return "captcha-without-picture" if captcha and not has_picture else text_of(error)


def answer_of(visit: Visit) -> dict[str, Any]:
    """Return the answer of a factor under its name: a typed code, or what the script has filled in."""
    codes = {name: visit.form[name].strip() for name in _FACTORS if visit.form.get(name)}
    return codes or {"passkey": visit.json_field("passkey")}


def _kept(challenge: dict[str, Any]) -> dict[str, Any]:
    """Return the members of a challenge that the session keeps."""
    # Browsers drop cookies of more than 4096 bytes. Users with so many passkeys use one to begin with.
    options = challenge.get("publicKey")
    is_short = len(json.dumps(options)) <= _MAX_OPTIONS
    return {
        "id": challenge["id"],
        "methods": challenge["methods"],
        "options": options if is_short else None,
    }


def _challenge_form(visit: Visit, error: str | None = None) -> Any:
    challenge = visit.session.challenge or {"methods": [], "options": None}
    reason = "code-wrong" if error == "error.invalid-credentials" else text_of(error)
    return visit.page(
        "challenge.html",
        status=400 if error else 200,
        error=reason if error else None,
        methods=challenge["methods"],
        options=challenge["options"],
    )
