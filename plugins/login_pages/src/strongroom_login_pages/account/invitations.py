"""Invitations to the contacts of the user: accept and decline them."""

from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.visits import join_path
from strongroom_login_pages.account.frame import ME, account_page, follow, show
from strongroom_login_pages.visit import LoginVisit, Routes, logged_in

_PAGE: Final = "/invitations"
_INVITATIONS: Final = f"{ME}/invitations"
_ONE: Final = f"{_PAGE}/received/<invitation_id>"


class InvitationPages:
    """The page of received invitations."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {
            ("GET", _PAGE): self.show,
            ("POST", f"{_ONE}/acceptance"): self.accept,
            ("GET", f"{_ONE}/removal"): self.show_removal,
            ("POST", f"{_ONE}/removal"): self.decline,
        }

    @account_page
    def show(self, visit: LoginVisit, user: Mapping[str, Any]) -> Any:
        """List the open invitations."""
        return show(visit, "invitations.html", user, invitations=received_invitations(visit))

    @account_page
    def show_removal(self, visit: LoginVisit, user: Mapping[str, Any], invitation_id: str) -> Any:
        """Ask whether an invitation is to be declined."""
        invitation = next(
            (item for item in received_invitations(visit) if item["id"] == invitation_id), None
        )
        if invitation is None:
            return visit.missing()
        return show(visit, "invitation_removal.html", user, invitation=invitation)

    @logged_in
    def accept(self, visit: LoginVisit, invitation_id: str) -> Any:
        """Accept an invitation."""
        path = join_path(_INVITATIONS, invitation_id, "acceptance")
        return _answer(visit, "POST", path, "invitation-accepted")

    @logged_in
    def decline(self, visit: LoginVisit, invitation_id: str) -> Any:
        """Decline an invitation."""
        path = join_path(_INVITATIONS, invitation_id)
        return _answer(visit, "DELETE", path, "invitation-declined")


def _answer(visit: LoginVisit, method: str, path: str, notice: str) -> Any:
    response = visit.rest(method, path)
    if response.error == "error.not-found":
        return visit.missing()
    return follow(visit, response, _PAGE, notice)


def received_invitations(visit: LoginVisit) -> list[dict[str, Any]]:
    """Return the open invitations, with the names of those who sent them."""
    records = visit.read_all(_INVITATIONS)
    return [
        {**item, "inviter": records.included.get(item["invitedBy"]["$ref"], {}).get("name", "")}
        for item in records.data
    ]
