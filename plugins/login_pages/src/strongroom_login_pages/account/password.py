"""The password: change it, or set the first one."""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.frame import ME, account_page, follow, remember, show
from strongroom_login_pages.account.proofs import (
    held_code,
    pending_of,
    proven_contacts,
    seconds_until_code,
    send_held_code,
)
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.texts import password_text
from strongroom_login_pages.visit import LoginVisit, Routes

_PAGE: Final = "/password"
_TASK: Final = "password"


class PasswordPages:
    """The page of the password."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _PAGE): self.show,
            ("POST", _PAGE): self.save,
            ("POST", f"{_PAGE}/code"): self.send_code,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Show the form."""
        return _page(visit, user)

    @account_page
    def send_code(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Send the code that a first password requires."""
        refusal = send_held_code(visit, user, _TASK, "bind", _PAGE)
        return _page(visit, user, refusal) if refusal else visit.redirect(_PAGE)

    @account_page
    def save(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Change the password, which ends the other logins."""
        body: dict[str, Any] = {"newPassword": visit.form.get("newPassword", "")}
        if user["hasPassword"]:
            body["oldPassword"] = visit.form.get("password", "")
        else:
            body["heldCode"] = held_code(visit, _TASK)
        response = visit.rest("PUT", f"{ME}/password", body)
        if response.error is None:
            remember(visit, pending=None)
            return follow(visit, response, "/", "password-changed")
        if response.error in STALE:
            return follow(visit, response, _PAGE, None)
        return _page(visit, user, response)


def _page(visit: LoginVisit, user: Mapping[str, Any], refusal: RestResponse | None = None) -> Any:
    pending, contacts = pending_of(visit, _TASK), proven_contacts(user)
    needs_code = bool(contacts) and not user["hasPassword"]
    is_weak = refusal is not None and refusal.error == "error.validation-failed"
    return show(
        visit,
        "password.html",
        user,
        refusal=refusal,
        error=password_text("error.validation-failed") if is_weak else None,
        contacts=contacts,
        sent_to=contacts.get(pending["to"]) if pending else None,
        wait=seconds_until_code(visit, pending),
        needs_code=needs_code,
        captcha=visit.captcha("bind") if needs_code and not pending else None,
        is_captcha_wrong=False,
    )
