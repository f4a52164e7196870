"""The members of a tenant: the list with its search, new members, and leaving the tenant."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import PageLinks
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
from strongroom_console.visit import ConsoleVisit, console_visit

members: Final = Blueprint("members", __name__, url_prefix="/tenants/<tenant_id>")

_SECTION: Final = "members/"
_MOST_OFFERED: Final = 20
_INVITE: Final = "invite:"
"""The beginning of the value of a choice that is an address."""

_CHIPS: Final = {("role", "admin"): "administrators", ("role", "records"): "records-managers"}

Json = Mapping[str, Any]


@members.get("/members/")
def show_members(tenant_id: str) -> Any:
    """List the members that the search finds; administrators change them."""
    visit = console_visit()
    is_administrator = visit.host.tenants.role(tenant_id) == "admin"
    query = _query()
    rows, links = _matching(visit, tenant_id, query)
    return tenant_page(
        visit,
        "tenant/members.html",
        tenant_id,
        _SECTION,
        compress=True,
        rows=rows,
        links=links,
        query=query,
        chips=make_chips(_CHIPS, query),
        roles=ROLES,
        service_accounts=service_account_ids(visit, tenant_id) if is_administrator else (),
        users=_offered_users(visit) if is_administrator else (),
    )


def _offered_users(visit: ConsoleVisit) -> Sequence[Json]:
    """Return the users who can be added: those that administrators of the server search for."""
    if not visit.is_administrator:
        return ()
    sought = {"q": request.args.get("find", "").strip()[:255]}
    return visit.find("/users", pageSize=_MOST_OFFERED, **(sought if sought["q"] else {}))


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
    visit, typed = console_visit(), request.form.get("typed", "").strip()
    user = request.form.get("user", "").strip() or typed
    if user.startswith(_INVITE):
        return _invite(visit, tenant_id, user.removeprefix(_INVITE))
    user_id = _user_id(visit, user)
    if user_id == typed and "@" in typed:
        return _invite(visit, tenant_id, typed)
    response = visit.rest("PUT", tenant_path(tenant_id, "members", user_id), role_of_form())
    return visit.follow(response, page_path(tenant_id, "members"), "member-added")


def _invite(visit: ConsoleVisit, tenant_id: str, address: str) -> Any:
    body = {"email": address, "groups": [], **role_of_form()}
    response = visit.rest("POST", tenant_path(tenant_id, "invitations"), body)
    return visit.follow(response, page_path(tenant_id, "members"), "invited", name=address)


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
