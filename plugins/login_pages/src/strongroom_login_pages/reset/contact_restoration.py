"""Links in notices of a changed contact, by which its user takes the former one back."""

from typing import Any

from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.texts import password_text
from strongroom_login_pages.visit import LoginVisit, Routes

_PAGE = "/restore/<token>"


class RestoredContacts:
    """The page of a link."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {("GET", _PAGE): self.show, ("POST", _PAGE): self.restore}

    def show(self, visit: LoginVisit, token: str) -> Any:
        """Show what the link does, and the form. Programs open links, too: nothing changes."""
        return _form(visit, token)

    def restore(self, visit: LoginVisit, token: str) -> Any:
        """Take the contact back and set the password. The user logs in with it."""
        body = {"token": token, "newPassword": visit.form.get("newPassword", "")}
        response = visit.rest("POST", "/users/contact-restorations", body)
        if response.error is None:
            visit.log_out(notice="contact-restored")
            return visit.redirect("/login")
        if response.error == "error.validation-failed":
            return _form(visit, token, password_text(response.error))
        return _refusal(visit, response)


def _form(visit: LoginVisit, token: str, error: str | None = None) -> Any:
    response = visit.rest("POST", "/users/contact-restoration-previews", {"token": token})
    if response.error is not None:
        return _refusal(visit, response)
    return visit.page(
        "reset/contact_restoration.html",
        status=400 if error else 200,
        error=error,
        token=token,
        contact=response.json,
    )


def _refusal(visit: LoginVisit, response: RestResponse) -> Any:
    if response.error == "error.credential-taken":
        return visit.fail(response.status, "restore-taken", "restore-taken-hint")
    if response.error == "error.contact-link-invalid":
        return visit.fail(response.status, "link-void", response.error)
    return visit.fail(response.status)
