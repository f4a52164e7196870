"""A member of a tenant: the role, the files, and the end of the membership."""

from typing import Any, Final

from flask import Blueprint, request
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import current_visit
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import ROLES, find_member, successors_of
from strongroom_console.tenant.members import role_of_form

member_changes: Final = Blueprint(
    "member_changes", __name__, url_prefix="/tenants/<tenant_id>/members/<user_id>"
)


def _page(template: str, tenant_id: str, user_id: str) -> Any:
    visit = current_visit()
    if visit.host.tenants.role(tenant_id) != "admin":
        raise NotFound
    member = find_member(visit, tenant_id, user_id)
    return tenant_page(
        visit,
        template,
        tenant_id,
        "members/",
        member=member,
        is_self=user_id == visit.session.user_id,
        others=successors_of(visit, tenant_id, user_id),
        roles=ROLES,
    )


@member_changes.get("/")
def show_member(tenant_id: str, user_id: str) -> Any:
    """Show a member, and what administrators change."""
    return _page("tenant/member.html", tenant_id, user_id)


@member_changes.post("/role")
def change_role(tenant_id: str, user_id: str) -> Any:
    """Change the role of a member."""
    visit = current_visit()
    response = visit.rest("PUT", tenant_path(tenant_id, "members", user_id), role_of_form())
    page = page_path(tenant_id, "members", user_id)
    if response.error is None and user_id == visit.session.user_id:
        # Only administrators have a page of a member.
        page = page_path(tenant_id, "members")
    return visit.follow(response, page, "role-changed")


@member_changes.post("/files")
def hand_over_files(tenant_id: str, user_id: str) -> Any:
    """Make another member the owner of the files of this one."""
    response = _hand_over(tenant_id, user_id)
    page = page_path(tenant_id, "members", user_id)
    return current_visit().follow(response, page, "files-handed-over")


def _hand_over(tenant_id: str, user_id: str) -> Any:
    body = {"toUserId": request.form.get("successor", "")}
    return current_visit().rest("POST", tenant_path(tenant_id, "members", user_id, "transfer"), body)


@member_changes.get("/removal")
def ask_about_removal(tenant_id: str, user_id: str) -> Any:
    """Ask whether a member is to be removed, and who gets the files."""
    return _page("tenant/member_removal.html", tenant_id, user_id)


@member_changes.post("/removal")
def remove(tenant_id: str, user_id: str) -> Any:
    """Remove a member, after the files have been handed over if a successor is named."""
    visit = current_visit()
    question = page_path(tenant_id, "members", user_id) + "removal"
    if request.form.get("successor"):
        response = _hand_over(tenant_id, user_id)
        if response.error is not None:
            return visit.follow(response, question)
    response = visit.rest("DELETE", tenant_path(tenant_id, "members", user_id))
    page = question if response.error is not None else page_path(tenant_id, "members")
    return visit.follow(response, page, "member-removed")
