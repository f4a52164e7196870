"""Privacy: the export of the user's data, and the deletion of the account with its grace period."""

from collections.abc import Mapping
from typing import Any, Final

from werkzeug.wrappers import Response

from strongroom_login_pages.account.frame import ME, account_page, follow, show
from strongroom_login_pages.sign_in.step_up import STALE
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

_PAGE: Final = "/privacy"
_DELETION: Final = f"{_PAGE}/deletion"
_ARCHIVE_HEADERS: Final = ("Content-Type", "Content-Disposition", "Cache-Control")


class PrivacyPages:
    """The pages of the user's data."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _PAGE): self.show,
            ("POST", f"{_PAGE}/export"): self.export,
            ("GET", _DELETION): self.show_deletion,
            ("POST", _DELETION): self.schedule,
            ("POST", f"{_DELETION}/cancellation"): self.cancel,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Offer the export, and the deletion or its cancellation."""
        response = visit.rest("GET", f"{ME}/deletion")
        due = response.json["dueAt"] if response.error is None else None
        grace = visit.login_options.deletion_grace_days
        return show(visit, "privacy.html", user, deletion_due=due, grace=grace)

    @logged_in
    def export(self, visit: LoginVisit) -> Any:
        """Return the archive of the user's data."""
        try:
            response = visit.rest("POST", f"{ME}/exports")
        # A page can pass on only what fits into memory; the REST API has no such limit.
        except ValueError:
            visit.update(notice="error.export-too-large")
            return visit.redirect(_PAGE)
        if response.error is not None:
            return follow(visit, response, _PAGE, None)
        headers = {name: response.headers[name.lower()] for name in _ARCHIVE_HEADERS}
        return Response(response.content, headers=headers)

    @account_page
    def show_deletion(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """Say what the user loses, and ask."""
        grace = visit.login_options.deletion_grace_days
        return show(visit, "deletion.html", user, grace=grace)

    @logged_in
    def schedule(self, visit: LoginVisit) -> Any:
        """Schedule the deletion; without a grace period the account is gone at once."""
        response = visit.rest("POST", f"{ME}/deletion")
        if response.error is None and visit.rest("GET", ME).error is not None:
            visit.log_out(notice="account-deleted")
            return visit.redirect("/login")
        page = _DELETION if response.error in STALE else _PAGE
        return follow(visit, response, page, "deletion-scheduled")

    @logged_in
    def cancel(self, visit: LoginVisit) -> Any:
        """Cancel the deletion."""
        return follow(visit, visit.rest("DELETE", f"{ME}/deletion"), _PAGE, "deletion-cancelled")
