"""Links that set a password, which administrators issue."""

from typing import Any

from strongroom_login_pages.texts import password_text
from strongroom_login_pages.visit import LoginVisit, Routes


class PasswordLinks:
    """The page of a link."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", "/password-links/<token>"): self.show,
            ("POST", "/password-links/<token>"): self.redeem,
        }

    def show(self, visit: LoginVisit, token: str) -> Any:
        """Show the form. Programs open links, too: nothing changes."""
        return visit.page("reset/password_link.html", token=token)

    def redeem(self, visit: LoginVisit, token: str) -> Any:
        """Set the password of the link's user."""
        body = {"token": token, "newPassword": visit.form.get("newPassword", "")}
        response = visit.rest("POST", "/users/password-links", body)
        if response.error is None:
            visit.log_out(notice="password-set")
            return visit.redirect("/login")
        if response.error == "error.account-link-invalid":
            return visit.fail(400, "link-void", "error.account-link-invalid")
        error = password_text(response.error)
        return visit.page("reset/password_link.html", status=400, token=token, error=error)
