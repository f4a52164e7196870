"""The links in e-mails with invitations to a tenant.

Programs open links in messages, so opening one changes nothing. A secret that is wrong, used, replaced
or expired has one page. The invited user accepts and declines by the forms of the account pages.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from strongroom.plugin_api.contacts import masked
from strongroom.plugin_api.visits import join_path
from strongroom.plugin_api.web import RestResponse
from strongroom_login_pages.account.frame import ME, login_name
from strongroom_login_pages.account.invitations import received_invitations
from strongroom_login_pages.sign_in.attempt import INVITATION, REGISTRATION
from strongroom_login_pages.sign_in.ways import registers_invited
from strongroom_login_pages.visit import LoginVisit, Routes

_PAGE: Final = "/invitations/<secret>"
_ROLES: Final = {"admin": "role-admin", "member": "role-member", "records": "role-records"}

Invitation = Mapping[str, Any]


class InvitationLinks:
    """The page of a link."""

    def routes(self) -> Routes:
        """Return the views by method and path."""
        return {("GET", _PAGE): self.show, ("POST", _PAGE): self.begin}

    def show(self, visit: LoginVisit, secret: str) -> Any:
        """Show who invites to what, and what the user can do."""
        user = _user(visit)
        response = _preview(visit, secret)
        if response.error is not None:
            return _refusal(visit, response)
        return _page(visit, secret, response.json, user)

    def begin(self, visit: LoginVisit, secret: str) -> Any:
        """Begin a login or a registration, which leads back to this page."""
        response = _preview(visit, secret)
        if response.error is not None:
            return _refusal(visit, response)
        # The login of another user must not answer the invitation.
        visit.log_out(resume=f"{visit.root}{path_of(secret)}")
        if visit.form.get("way") == "register" and _can_register(visit, response.json):
            visit.proceed(INVITATION, {"invitation": {"secret": secret, **_contact(response.json)}})
            return visit.redirect("/register")
        return visit.redirect("/login")


def path_of(secret: str) -> str:
    """Return the path of the page of an invitation."""
    return join_path("/invitations", secret)


def kept_invitation(visit: LoginVisit) -> Mapping[str, str] | None:
    """Return the invitation with which the user registers: its ``secret``, ``kind`` and ``contact``."""
    data = visit.flow.attempt.data_of(INVITATION, REGISTRATION) or {}
    invitation: Mapping[str, str] | None = data.get("invitation")
    return invitation


def void_invitation(visit: LoginVisit) -> Mapping[str, str] | None:
    """Return the invitation with which the user registers if it is no longer open."""
    invitation = kept_invitation(visit)
    if invitation is None:
        return None
    is_void = _preview(visit, invitation["secret"]).error == "error.not-found"
    return invitation if is_void else None


def _preview(visit: LoginVisit, secret: str) -> RestResponse:
    return visit.rest("POST", "/api/v1/invitation-previews", {"secret": secret})


def _user(visit: LoginVisit) -> Mapping[str, Any] | None:
    """Return the user who is logged in, if any."""
    if visit.token is None:
        return None
    response = visit.rest("GET", ME)
    if response.error is None:
        user: Mapping[str, Any] = response.json
        return user
    visit.log_out()
    return None


def _contact(invitation: Invitation) -> dict[str, str]:
    kind = "email" if invitation["email"] else "mobile"
    return {"kind": kind, "contact": invitation[kind]}


def _can_register(visit: LoginVisit, invitation: Invitation) -> bool:
    return registers_invited(visit.login_options, _contact(invitation)["kind"])


def _refusal(visit: LoginVisit, response: RestResponse) -> Any:
    if response.status not in (HTTPStatus.NOT_FOUND, HTTPStatus.BAD_REQUEST):
        return visit.fail(response.status)
    return visit.fail(HTTPStatus.NOT_FOUND, "invitation-void", "invitation-void-why")


def _page(visit: LoginVisit, secret: str, invitation: Invitation, user: Mapping[str, Any] | None) -> Any:
    received = {item["id"] for item in received_invitations(visit)} if user else set()
    return visit.page(
        "registration/invitation.html",
        path=path_of(secret),
        invitation=invitation,
        contact=masked(_contact(invitation)["contact"]),
        role=_ROLES[invitation["role"]],
        user=login_name(user) or user["name"] if user else None,
        is_recipient=invitation["id"] in received,
        can_register=_can_register(visit, invitation),
    )
