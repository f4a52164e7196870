"""Sharing with people and groups of the tenant: permissions on a file or folder, with an end."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.visits import Flash, Visit, current_visit, join_path
from strongroom.plugin_api.web import RestResponse
from strongroom_console.my_files.ends import requested_end
from strongroom_console.my_files.links import create_link, links_of_node, picture_of, requested_rule
from strongroom_console.my_files.nodes import (
    LEVELS,
    node_page,
    node_page_path,
    node_path,
    read_node,
)
from strongroom_console.tenant.frame import page_path, tenant_path
from strongroom_console.tenant.member_list import ROLES, offered_rows, with_chosen
from strongroom_console.tenant.new_members import send_invitation

sharing: Final = Blueprint("sharing", __name__)

_SHARE: Final = "/tenants/<tenant_id>/nodes/<node_id>/share"
_LONGEST_TIME: Final = 40

_Choice = tuple[str, str, str]
"""The value of a choice, the name, and the key of what it is."""


@sharing.get(_SHARE)
def show_sharing(tenant_id: str, node_id: str) -> Any:
    """Show the grants and links of a file or folder, and the forms that change them."""
    return sharing_page(current_visit(), tenant_id, node_id)


@sharing.post(f"{_SHARE}/grants")
def grant(tenant_id: str, node_id: str) -> Any:
    """Grant a permission to a person or a group, or replace the one that it has; invite an address."""
    visit = current_visit()
    kind, _, identifier = request.form.get("who", "").partition(":")
    if kind == "invite":
        return _invite(visit, tenant_id, node_id, identifier)
    body = {
        "permission": request.form.get("permission", ""),
        "expiresAt": requested_end(),
        "groupId" if kind == "group" else "ownerId": identifier,
    }
    path = "group-grants" if kind == "group" else "owners"
    response = visit.rest("POST", f"{node_path(tenant_id, node_id)}/{path}", body)
    return visit.follow(response, node_page_path(tenant_id, node_id, "share"), "granted")


def _invite(visit: Visit, tenant_id: str, node_id: str, address: str) -> Any:
    """Invite an address to the tenant: only members have permissions on files."""
    response = send_invitation(visit, tenant_id, address)
    page = node_page_path(tenant_id, node_id, "share")
    return visit.follow(response, page, "invited-to-share", name=address)


@sharing.post(f"{_SHARE}/revocations")
def revoke(tenant_id: str, node_id: str) -> Any:
    """Revoke the permission of a person or a group on a file or folder itself."""
    visit = current_visit()
    kind, _, identifier = request.form.get("who", "").partition(":")
    path = "group-grants" if kind == "group" else "owners"
    grant_path = join_path(node_path(tenant_id, node_id), path, identifier)
    response = visit.rest("DELETE", grant_path)
    page = _page_after_revocation(visit, tenant_id, node_id)
    if response.error is not None:
        return visit.follow(response, page)
    visit.flash(Flash("revoked", values=_revoked_grant()))
    return visit.redirect(page)


def _revoked_grant() -> Mapping[str, Any]:
    """Return the permission that was revoked, as the form that grants it again has it."""
    form = request.form
    who, permission, end = form.get("who", ""), form.get("before", ""), form.get("end", "")
    if permission not in LEVELS or len(end) > _LONGEST_TIME:
        return {}
    return {"regrant": {"who": who, "permission": permission, "end": end}}


@sharing.post(f"{_SHARE}/links/<share_id>")
def change_rule(tenant_id: str, node_id: str, share_id: str) -> Any:
    """Change one rule of a link: its end, its password, or the number of downloads."""
    visit = current_visit()
    response = visit.rest("PATCH", tenant_path(tenant_id, "shares", share_id), requested_rule())
    return visit.follow(response, node_page_path(tenant_id, node_id, "share"), "link-changed")


@sharing.post(f"{_SHARE}/links")
def share_by_link(tenant_id: str, node_id: str) -> Any:
    """Create a link, and show its URL, which may not be readable again."""
    visit = current_visit()
    response = create_link(visit, tenant_id, node_id)
    page = node_page_path(tenant_id, node_id, "share")
    if response.error is None:
        node, url = read_node(visit, tenant_id, node_id), response.json["url"]
        share = {**response.json, "picture": picture_of(url)}
        return node_page(visit, "my_files/share_created.html", node, "share", share=share)
    if response.status == HTTPStatus.BAD_REQUEST:
        return sharing_page(visit, tenant_id, node_id, response)
    return visit.follow(response, page)


def _page_after_revocation(visit: Visit, tenant_id: str, node_id: str) -> str:
    """Return the page of sharing; the list of files for users who have revoked their own permission."""
    response = visit.rest("GET", node_path(tenant_id, node_id))
    is_managed = response.error is None and response.json["permission"] == "manage"
    return node_page_path(tenant_id, node_id, "share") if is_managed else page_path(tenant_id, "files")


def sharing_page(visit: Visit, tenant_id: str, node_id: str, refusal: RestResponse | None = None) -> Any:
    """Return the response with the page of sharing.

    Args:
        refusal: the response that refused the form of a new link, whose input stays.
    """
    node = read_node(visit, tenant_id, node_id)
    links = links_of_node(visit, node, is_refused=refusal is not None)
    chosen = links["rules"]["userIds"] if "rules" in links else ()
    members = offered_rows(visit, tenant_id)
    names = {row["id"]: row["name"] for row in members}
    return node_page(
        visit,
        "my_files/node_share.html",
        node,
        "share",
        refusal=refusal,
        grants=_grants(visit, node),
        members=with_chosen(names, chosen),
        people=[*_offered_groups(visit, tenant_id), *_offered_people(members)],
        **links,
    )


def _offered_people(members: Sequence[Mapping[str, Any]]) -> Sequence[_Choice]:
    return [(f"user:{row['id']}", row["name"], ROLES[row["role"]]) for row in members]


def _offered_groups(visit: Visit, tenant_id: str) -> Sequence[_Choice]:
    path = f"{tenant_path(tenant_id)}/groups"
    groups = visit.read_choices(path, lambda group, _included: str(group["name"]))
    return [(f"group:{group['id']}", group["name"], "group") for group in groups.data]


def _grants(visit: Visit, node: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return the grants on a node itself: first people's, then groups'."""
    path = node_path(node["tenantId"], node["id"])
    people = visit.read_all(f"{path}/owners")
    groups = visit.read_all(f"{path}/group-grants")
    return [
        {
            **item,
            "who": f"user:{item['ownerId']}",
            "name": people.included.get(item["owner"]["$ref"], {}).get("name", ""),
        }
        for item in people.data
    ] + [{**item, "who": f"group:{item['groupId']}", "name": item["groupName"]} for item in groups.data]
