"""Login by a code: it is sent to the name that the user has entered, and entered on the next page.

The pages are the same whether or not a user has the name.
"""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from strongroom.plugin_api.times import iso_format
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.captchas import REFUSED, captcha_member, refusal_text
from strongroom_login_pages.sign_in.attempt import CODE, RECIPIENT
from strongroom_login_pages.sign_in.progress import LoginProgress
from strongroom_login_pages.texts import error_text
from strongroom_login_pages.visit import LoginVisit, Routes

WAY: Final = "code"
"""The way of an attempt that begins here."""

_PURPOSE: Final = "login-code"
_REQUEST: Final = "/login/code"
_ENTRY: Final = f"{_REQUEST}/entry"
_WRONG: Final = ("error.invalid-credentials", "error.validation-failed")


@dataclass(slots=True, eq=False, repr=False)
class CodeLogin:
    """The pages that send a code, and take it."""

    _progress: LoginProgress

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _REQUEST): self.show_request,
            ("POST", _REQUEST): self.send,
            ("GET", _ENTRY): self.show_entry,
            ("POST", _ENTRY): self.enter,
        }

    def show_request(self, visit: LoginVisit) -> Any:
        """Ask for the captcha without which no code is sent."""
        if visit.flow.attempt.data_of(RECIPIENT, CODE) is None:
            return visit.redirect("/login")
        notice = visit.take_flash().notice
        return _request_form(visit, notice=notice)

    def send(self, visit: LoginVisit) -> Any:
        """Send a code, unless the one before was sent a moment ago."""
        if visit.flow.attempt.data_of(RECIPIENT, CODE) is None:
            return visit.redirect("/login")
        if _wait(visit):
            return _request_form(visit)
        response = visit.rest("POST", "/verification-codes", _code_request(visit))
        if response.error is not None:
            return _request_form(visit, response.error)
        visit.proceed(CODE, sent_code(visit, response))
        return visit.redirect(_ENTRY)

    def show_entry(self, visit: LoginVisit) -> Any:
        """Ask for the code."""
        return _entry_form(visit) if visit.flow.attempt.data_of(CODE) else visit.redirect("/login")

    def enter(self, visit: LoginVisit) -> Any:
        """Log in by the code."""
        sent = visit.flow.attempt.data_of(CODE)
        if sent is None:
            return visit.redirect("/login")
        if sent["expires_at"] <= iso_format(visit.now):
            visit.proceed(RECIPIENT, notice="error.code-expired")
            return visit.redirect(_REQUEST)
        body = authorization_by(visit, digits_of(visit.form.get("code", "")))
        response = visit.rest("POST", "/authorizations", body)
        return self._progress.continue_with(visit, response, lambda: self._refused(visit, response))

    def _refused(self, visit: LoginVisit, response: RestResponse) -> Any:
        """Return the page that follows a code that was refused."""
        if response.error in _WRONG:
            return _entry_form(visit, "code-wrong")
        if response.error == "error.too-many-requests":
            return _entry_form(visit, "codes-used-up")
        # The code was right and is consumed, but its user cannot log in.
        visit.switch()
        return self._progress.begin_again(visit, response)


def begin(visit: LoginVisit, username: str) -> RestResponse | None:
    """Begin a login by a code; return the refusal of a name that no code can be sent to, or ``None``."""
    # Without a captcha, the request goes as far as the check of the name.
    response = visit.rest("POST", "/verification-codes", {"recipient": username, "purpose": "login"})
    if response.error not in REFUSED:
        return response
    visit.proceed(RECIPIENT)
    return None


def authorization_by(visit: LoginVisit, code: str) -> dict[str, Any]:
    """Return the body of the login by the open code, or by the secret of the link in its message."""
    attempt = visit.flow.attempt
    return {"username": attempt.username, "verificationCode": {"id": attempt.data["id"], "code": code}}


def digits_of(text: str) -> str:
    """Return a code as the message has it: without blanks, and with ASCII digits."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def _code_request(visit: LoginVisit) -> dict[str, Any]:
    recipient = {"recipient": visit.flow.attempt.username, "purpose": "login", "link": True}
    return {**recipient, **captcha_member(visit, _PURPOSE)}


def sent_code(visit: LoginVisit, response: RestResponse) -> dict[str, Any]:
    """Return what the browser keeps of a code that was sent."""
    sent = {name: response.json[member] for name, member in (("id", "id"), ("expires_at", "expiresAt"))}
    return {**sent, "retry_at": next_code_at(visit, response)}


def next_code_at(visit: LoginVisit, response: RestResponse) -> int:
    """Return when another code can be sent, in milliseconds since the epoch."""
    return visit.now + int(response.json["retryAfterSeconds"]) * 1000


def seconds_until_next(visit: LoginVisit, sent: Mapping[str, Any] | None) -> int:
    """Return the seconds until another code can be sent than the one that was."""
    return max(0, ceil((sent["retry_at"] - visit.now) / 1000)) if sent else 0


def _wait(visit: LoginVisit) -> int:
    return seconds_until_next(visit, visit.flow.attempt.data_of(CODE))


def _request_form(visit: LoginVisit, error: str | None = None, *, notice: str | None = None) -> Any:
    captcha = visit.captcha(_PURPOSE)
    return visit.page(
        "sign_in/code_request.html",
        status=400 if error else 200,
        error=refusal_text(visit, error_text(error), captcha) if error else None,
        notice=notice,
        recipient=visit.flow.attempt.username,
        captcha=captcha,
        wait=_wait(visit),
        has_code=visit.flow.attempt.step == CODE,
    )


def _entry_form(visit: LoginVisit, error: str | None = None) -> Any:
    return visit.page(
        "sign_in/code_entry.html",
        status=400 if error else 200,
        error=error,
        recipient=visit.flow.attempt.username,
        wait=_wait(visit),
    )
