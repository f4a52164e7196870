"""The members of a tenant: the list with its search, new members, and leaving the tenant."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import PageLinks
from strongroom.plugin_api.visits import is_form_error, join_path
from strongroom.plugin_api.web import RestResponse
from strongroom_console.filters import make_chips
from strongroom_console.lists import read_matching
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import (
    ROLES,
    member_row,
    named,
    service_account_ids,
    with_marks,
)
from strongroom_console.tenant.new_members import read_joining, send_joining
from strongroom_console.visit import ConsoleVisit, console_visit

members: Final = Blueprint("members", __name__, url_prefix="/tenants/<tenant_id>")

_SECTION: Final = "members/"

_CHIPS: Final = {("role", "admin"): "administrators", ("role", "records"): "records-managers"}

Json = Mapping[str, Any]


@members.get("/members/")
def show_members(tenant_id: str) -> Any:
    """List the members that the search finds; administrators change them."""
    return _page(tenant_id)


def _page(tenant_id: str, refusal: RestResponse | None = None) -> Any:
    visit = console_visit()
    is_administrator = visit.host.tenants.role(tenant_id) == "admin"
    query = _query()
    rows, links = _matching(visit, tenant_id, query)
    values = {"roles": ROLES, **(read_joining(visit, tenant_id) if is_administrator else {})}
    return tenant_page(
        visit,
        "tenant/members.html",
        tenant_id,
        _SECTION,
        refusal=refusal,
        compress=True,
        rows=rows,
        links=links,
        query=query,
        chips=make_chips(_CHIPS, query),
        service_accounts=service_account_ids(visit, tenant_id) if is_administrator else (),
        **values,
    )


def _query() -> Json:
    values = {"q": request.args.get("q", "").strip()[:255], "role": request.args.get("role", "")}
    return {key: value for key, value in values.items() if value and (key == "q" or value in ROLES)}


def _matching(visit: ConsoleVisit, tenant_id: str, query: Json) -> tuple[list[Json], PageLinks]:
    """Return a page of the members whose names have the words of the search, and the role."""
    role = query.get("role")

    def is_of_role(member: Json) -> bool:
        return role is None or member["role"] == role

    items, included, links = read_matching(
        visit,
        tenant_path(tenant_id, "members"),
        query.get("q", ""),
        lambda member, included: str(named(member["user"], included)["name"]),
        None if role is None else is_of_role,
    )
    return with_marks([member_row(item, included) for item in items]), links


@members.post("/members/")
def add_member(tenant_id: str) -> Any:
    """Add a user as a member, or invite an address."""
    visit = console_visit()
    response, invited = send_joining(visit, tenant_id)
    if is_form_error(response):
        return _page(tenant_id, response)
    notice = "invited" if invited else "member-added"
    return visit.follow(response, page_path(tenant_id, "members"), notice, name=invited)


def role_of_form() -> dict[str, str]:
    """Return the body with the role that a form has."""
    return {"role": request.form.get("role", "")}


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
        return visit.follow(response, join_path("/tenants", tenant_id, "leave"))
    return visit.follow(response, "/", "space-left")
