"""The groups of a tenant and their members."""

from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import Refused, current_visit
from strongroom_console.lists import PAGE_SIZE, read_matching
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import member_row, offered_members

groups: Final = Blueprint("groups", __name__, url_prefix="/tenants/<tenant_id>/groups")

_SECTION: Final = "groups/"


def _name() -> dict[str, str]:
    return {"name": request.form.get("name", "").strip()}


@groups.get("/")
def show_groups(tenant_id: str) -> Any:
    """List the groups, with the form of a new one."""
    visit = current_visit()
    query = {"q": request.args.get("q", "").strip()[:255]}
    path = tenant_path(tenant_id, "groups")
    rows, _, links = read_matching(visit, path, query["q"], lambda group, _: str(group["name"]))
    mine = visit.read_all(tenant_path(tenant_id, "groups"), userId=visit.session.user_id)
    return tenant_page(
        visit,
        "tenant/groups.html",
        tenant_id,
        _SECTION,
        rows=rows,
        query=query,
        own={group["id"] for group in mine.data},
        links=links,
    )


@groups.post("/")
def create_group(tenant_id: str) -> Any:
    """Create a group, and open it."""
    visit = current_visit()
    response = visit.rest("POST", tenant_path(tenant_id, "groups"), _name())
    if response.error is not None:
        return visit.follow(response, page_path(tenant_id, "groups"))
    return visit.follow(response, page_path(tenant_id, "groups", response.json["id"]), "group-created")


@groups.get("/<group_id>/")
def show_group(tenant_id: str, group_id: str) -> Any:
    """Show a group; only its members and administrators see the list of members."""
    visit = current_visit()
    group = visit.read(tenant_path(tenant_id, "groups", group_id))
    is_administrator = visit.host.tenants.role(tenant_id) == "admin"
    page = _members(tenant_id, group_id)
    rows = [member_row(item, page["included"]) for item in page["data"]] if page else None
    return tenant_page(
        visit,
        "tenant/group.html",
        tenant_id,
        _SECTION,
        group=group,
        rows=rows,
        links=page_links(page["meta"]) if page else None,
        candidates=offered_members(visit, tenant_id) if is_administrator else {},
    )


def _members(tenant_id: str, group_id: str) -> Any:
    """Return a page of the members of a group; ``None`` if the user does not see them."""
    path = tenant_path(tenant_id, "groups", group_id, "members")
    try:
        return current_visit().read(path, pageSize=PAGE_SIZE, pageNumber=page_number())
    except Refused as refused:
        if refused.response.error != "error.forbidden":
            raise
        return None


@groups.post("/<group_id>/name")
def rename_group(tenant_id: str, group_id: str) -> Any:
    """Rename a group."""
    visit = current_visit()
    response = visit.rest("PATCH", tenant_path(tenant_id, "groups", group_id), _name())
    return visit.follow(response, page_path(tenant_id, "groups", group_id), "group-renamed")


@groups.get("/<group_id>/removal")
def ask_about_group_removal(tenant_id: str, group_id: str) -> Any:
    """Ask whether a group is to be deleted."""
    visit = current_visit()
    group = visit.read(tenant_path(tenant_id, "groups", group_id))
    return tenant_page(visit, "tenant/group_removal.html", tenant_id, _SECTION, group=group)


@groups.post("/<group_id>/removal")
def delete_group(tenant_id: str, group_id: str) -> Any:
    """Delete a group."""
    visit = current_visit()
    response = visit.rest("DELETE", tenant_path(tenant_id, "groups", group_id))
    return visit.follow(response, page_path(tenant_id, "groups"), "group-deleted")


@groups.post("/<group_id>/members")
def add_group_member(tenant_id: str, group_id: str) -> Any:
    """Add a member of the tenant to a group."""
    visit = current_visit()
    user_id = request.form.get("user") or "-"
    response = visit.rest("PUT", tenant_path(tenant_id, "groups", group_id, "members", user_id))
    return visit.follow(response, page_path(tenant_id, "groups", group_id), "group-member-added")


@groups.post("/<group_id>/members/<user_id>/removal")
def remove_group_member(tenant_id: str, group_id: str, user_id: str) -> Any:
    """Remove a member from a group, or leave it."""
    visit = current_visit()
    response = visit.rest("DELETE", tenant_path(tenant_id, "groups", group_id, "members", user_id))
    return visit.follow(response, page_path(tenant_id, "groups", group_id), "group-member-removed")
