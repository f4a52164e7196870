"""The members of a tenant: the list, new members, and leaving the tenant."""

from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import ROLES, member_row, service_account_ids
from strongroom_console.visit import ConsoleVisit, console_visit

members: Final = Blueprint("members", __name__, url_prefix="/tenants/<tenant_id>")

_SECTION: Final = "members/"


@members.get("/members/")
def show_members(tenant_id: str) -> Any:
    """List the members; administrators add others by the form."""
    visit = console_visit()
    page = visit.read(tenant_path(tenant_id, "members"), pageSize=PAGE_SIZE, pageNumber=page_number())
    is_administrator = visit.host.tenants.role(tenant_id) == "admin"
    return tenant_page(
        visit,
        "tenant/members.html",
        tenant_id,
        _SECTION,
        rows=[member_row(item, page["included"]) for item in page["data"]],
        links=page_links(page["meta"]),
        roles=ROLES,
        service_accounts=service_account_ids(visit, tenant_id) if is_administrator else (),
    )


@members.post("/members/")
def add_member(tenant_id: str) -> Any:
    """Add a user as a member."""
    visit = console_visit()
    user_id = _user_id(visit, request.form.get("user", "").strip())
    response = visit.rest("PUT", tenant_path(tenant_id, "members", user_id), role_of_form())
    return visit.follow(response, page_path(tenant_id, "members"), "member-added")


def role_of_form() -> dict[str, str]:
    """Return the body with the role that a form has."""
    return {"role": request.form.get("role", "")}


def _user_id(visit: ConsoleVisit, text: str) -> str:
    """Return the id of the user with a contact, which only administrators of the server may search for.

    Any other text is an id, of which the REST API says whether it is one.
    """
    if visit.is_administrator:
        kind = "email" if "@" in text else "mobile" if text.startswith("+") else "username"
        response = visit.rest("GET", f"/users?{urlencode({kind: text})}")
        if response.error is None and response.json["data"]:
            return str(response.json["data"][0]["id"])
    return text or "-"


@members.get("/leave")
def ask_about_leaving(tenant_id: str) -> Any:
    """Ask whether the user wants to leave the tenant."""
    return tenant_page(console_visit(), "tenant/leave.html", tenant_id, _SECTION)


@members.post("/leave")
def leave(tenant_id: str) -> Any:
    """Leave the tenant."""
    visit = console_visit()
    response = visit.rest("DELETE", tenant_path(tenant_id, "members", visit.session.user_id))
    if response.error is not None:
        return visit.follow(response, f"/tenants/{tenant_id}/leave")
    return visit.follow(response, "/", "space-left")
