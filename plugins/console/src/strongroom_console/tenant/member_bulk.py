"""Changes of several members of the list at once: their role, and the end of their memberships."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, request
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.visits import Visit, current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.selected import chosen_change, list_query, show_partly
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import ROLES, member_names

member_bulk: Final = Blueprint("member_bulk", __name__, url_prefix="/tenants/<tenant_id>/members")


@member_bulk.post("/changes")
def change_members(tenant_id: str) -> Any:
    """Change the role of the selected members, or remove them after a question."""
    visit = current_visit()
    # Only administrators have the form, in a section that all members see.
    if visit.host.tenants.role(tenant_id) != "admin":
        raise NotFound
    change, user_ids = chosen_change("user")
    if not user_ids:
        return visit.redirect(_list(tenant_id), "nobody-selected")
    if change == "remove" and "confirmed" not in request.form:
        return _ask(visit, tenant_id, user_ids)
    if change == "remove":
        removals = {user_id: visit.rest("DELETE", _member(tenant_id, user_id)) for user_id in user_ids}
        return _finish(visit, tenant_id, removals, "members-removed")
    role = change if change in ROLES else request.form.get("role", "")
    changes = {
        user_id: visit.rest("PUT", _member(tenant_id, user_id), {"role": role}) for user_id in user_ids
    }
    return _finish(visit, tenant_id, changes, "roles-changed")


def _member(tenant_id: str, user_id: str) -> str:
    return tenant_path(tenant_id, "members", user_id)


def _list(tenant_id: str) -> str:
    return page_path(tenant_id, "members") + list_query()


def _ask(visit: Visit, tenant_id: str, user_ids: Sequence[str]) -> Any:
    names = member_names(visit, tenant_id)
    return tenant_page(
        visit,
        "tenant/members_removal.html",
        tenant_id,
        "members/",
        people={user_id: names.get(user_id, user_id) for user_id in user_ids},
        query=list_query().removeprefix("?"),
    )


def _finish(visit: Visit, tenant_id: str, responses: Mapping[str, RestResponse], notice: str) -> Any:
    refused = {user_id: item for user_id, item in responses.items() if item.error is not None}
    if refused:
        name = member_names(visit, tenant_id).get(next(iter(refused)), "")
        return show_partly(visit, refused, len(responses), _list(tenant_id), name)
    return visit.redirect(_list(tenant_id), notice, count=str(len(responses)))
