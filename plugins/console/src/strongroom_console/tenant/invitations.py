"""The open invitations to a tenant."""

from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit, is_form_error
from strongroom.plugin_api.web import RestResponse
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import named
from strongroom_console.tenant.new_members import read_joining, send_joining
from strongroom_console.visit import console_visit

invitations: Final = Blueprint("invitations", __name__, url_prefix="/tenants/<tenant_id>/invitations")

_SECTION: Final = "invitations/"


@invitations.get("/")
def show_invitations(tenant_id: str) -> Any:
    """List the open invitations, with the form of a new one."""
    return _page(tenant_id)


@invitations.post("/")
def invite(tenant_id: str) -> Any:
    """Invite an e-mail address or a mobile number, or add a user."""
    visit = console_visit()
    response, invited = send_joining(visit, tenant_id)
    if is_form_error(response):
        return _page(tenant_id, response)
    notice = "invited" if invited else "member-added"
    return visit.follow(response, page_path(tenant_id, "invitations"), notice, name=invited)


@invitations.post("/<invitation_id>/resend")
def resend_invitation(tenant_id: str, invitation_id: str) -> Any:
    """Send an invitation again, with a new end."""
    return _change("POST", tenant_id, (invitation_id, "resend"), "invitation-resent")


@invitations.post("/<invitation_id>/removal")
def withdraw_invitation(tenant_id: str, invitation_id: str) -> Any:
    """Withdraw an invitation."""
    return _change("DELETE", tenant_id, (invitation_id,), "invitation-withdrawn")


def _change(method: str, tenant_id: str, names: tuple[str, ...], notice: str) -> Any:
    visit = current_visit()
    response = visit.rest(method, tenant_path(tenant_id, "invitations", *names))
    return visit.follow(response, page_path(tenant_id, "invitations"), notice)


def _page(tenant_id: str, refusal: RestResponse | None = None) -> Any:
    visit = console_visit()
    page = visit.read(
        tenant_path(tenant_id, "invitations"), pageSize=PAGE_SIZE, pageNumber=page_number()
    )
    included = page["included"]
    return tenant_page(
        visit,
        "tenant/invitations.html",
        tenant_id,
        _SECTION,
        refusal=refusal,
        rows=[{**item, "sender": named(item["invitedBy"], included)["name"]} for item in page["data"]],
        links=page_links(page["meta"]),
        **read_joining(visit, tenant_id),
    )
