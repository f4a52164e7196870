"""A forgotten password: a code to a contact of the user, and a new password with it.

There is one form for the code and the password, so no page and no cookie is ever as good as a proof.
"""

from typing import Any, Final

from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import join_path
from strongroom_login_pages.captchas import refusal_text
from strongroom_login_pages.contact_codes import (
    code_of_form,
    entry_text,
    is_expired,
    request_text,
    send_code,
)
from strongroom_login_pages.sign_in.attempt import RESET
from strongroom_login_pages.sign_in.code_login import seconds_until_next
from strongroom_login_pages.sign_in.ways import CODE_TEXTS, ways_of
from strongroom_login_pages.visit import LoginVisit, Routes

_REQUEST: Final = "/forgot"
_ENTRY: Final = "/reset"


class ForgottenPassword:
    """The pages from the contact to the new password."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _REQUEST): self.show_request,
            ("POST", _REQUEST): self.send,
            ("GET", _ENTRY): self.show_entry,
            ("POST", _ENTRY): self.reset,
        }

    def show_request(self, visit: LoginVisit) -> Any:
        """Ask for the contact."""
        _require_offered(visit)
        notice = visit.take_flash().notice
        return _request_form(visit, notice=notice)

    def send(self, visit: LoginVisit) -> Any:
        """Send a code. The next page is the same for contacts that no user has."""
        _require_offered(visit)
        response = send_code(visit, "reset-password", RESET)
        if response.error is not None:
            return _request_form(visit, request_text(response.error))
        return visit.redirect(_ENTRY)

    def show_entry(self, visit: LoginVisit) -> Any:
        """Ask for the code and the new password."""
        if visit.flow.attempt.data_of(RESET) is None:
            return visit.redirect(_REQUEST)
        return _entry_form(visit)

    def reset(self, visit: LoginVisit) -> Any:
        """Set the new password. All logins of the user end, and the user logs in with it."""
        attempt = visit.flow.attempt
        if attempt.data_of(RESET) is None:
            return visit.redirect(_REQUEST)
        if is_expired(visit, RESET):
            visit.switch(notice="error.code-expired")
            return visit.redirect(_REQUEST)
        body = {
            "verificationCode": code_of_form(visit),
            "newPassword": visit.form.get("newPassword", ""),
        }
        path = join_path("/users", attempt.username, "reset-password")
        response = visit.rest("POST", path, body)
        if response.error is not None:
            return _entry_form(visit, entry_text(response.error))
        return_to, resume = visit.flow.return_to, visit.flow.resume
        visit.log_out(
            notice="password-set", attempt=attempt.switched(), return_to=return_to, resume=resume
        )
        return visit.redirect("/login")


def _require_offered(visit: LoginVisit) -> None:
    if not ways_of(visit.login_options).reset:
        raise NotFound


def _request_form(visit: LoginVisit, error: str | None = None, *, notice: str | None = None) -> Any:
    captcha = visit.captcha("reset-password")
    return visit.page(
        "reset/forgot.html",
        status=400 if error else 200,
        error=refusal_text(visit, error, captcha),
        notice=notice,
        contact=CODE_TEXTS[visit.login_options.reset_codes],
        username=visit.form.get("username", visit.flow.attempt.username),
        captcha=captcha,
    )


def _entry_form(visit: LoginVisit, error: str | None = None) -> Any:
    return visit.page(
        "reset/reset.html",
        status=400 if error else 200,
        error=error,
        recipient=visit.flow.attempt.username,
        wait=seconds_until_next(visit, visit.flow.attempt.data_of(RESET)),
    )
