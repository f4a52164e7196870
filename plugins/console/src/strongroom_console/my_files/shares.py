"""The links of a tenant: the user's own, and for administrators all of them."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number, read_number
from strongroom.plugin_api.visits import Visit, current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.my_files.links import (
    AUDIENCES,
    KINDS,
    STATES,
    given_rules,
    picture_of,
    requested_password,
    requested_rules,
    rules_of,
)
from strongroom_console.my_files.nodes import node_path
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path
from strongroom_console.tenant.member_list import member_names, offered_members, with_chosen

shares: Final = Blueprint("shares", __name__)

OPENINGS: Final = {"open": "did-open", "download": "did-download", "drop": "did-drop"}
"""The keys of what visitors do."""

_SHARES: Final = "/tenants/<tenant_id>/shares/"
_ONE: Final = f"{_SHARES}<share_id>/"

# The name of the file of each link costs a request.
_ON_PAGE: Final = 25


@shares.get(_SHARES)
def show_shares(tenant_id: str) -> Any:
    """Show the links, the newest first; with ``stale``, those that cannot be opened."""
    visit, is_stale = current_visit(), request.args.get("stale") == "true"
    page = visit.read(
        f"{tenant_path(tenant_id)}/shares",
        pageSize=_ON_PAGE,
        pageNumber=page_number(),
        stale="true" if is_stale else None,
    )
    return tenant_page(
        visit,
        "my_files/shares.html",
        tenant_id,
        "shares/",
        rows=[{**share, "file": _name_of_file(visit, share)} for share in page["data"]],
        links=page_links(page["meta"]),
        is_stale=is_stale,
        kind_names=KINDS,
        states=STATES,
    )


@shares.get(_ONE)
def show_share(tenant_id: str, share_id: str) -> Any:
    """Show a link, the form that changes it, and what visitors did."""
    return _page(current_visit(), tenant_id, share_id)


@shares.post(_ONE)
def change_share(tenant_id: str, share_id: str) -> Any:
    """Change the rules of a link."""
    visit = current_visit()
    revision = read_number(request.form.get("revision", ""))
    body = {**requested_rules(), **requested_password()}
    if revision is not None:
        body["revision"] = revision
    response = visit.rest("PATCH", _path(tenant_id, share_id), body)
    if response.status == HTTPStatus.BAD_REQUEST:
        return _page(visit, tenant_id, share_id, response)
    return visit.follow(response, page_path(tenant_id, "shares", share_id), "link-changed")


@shares.post(f"{_ONE}state")
def close_or_open_share(tenant_id: str, share_id: str) -> Any:
    """Close a link, or open it again."""
    visit, is_closed = current_visit(), request.form.get("closed") == "true"
    response = visit.rest("PATCH", _path(tenant_id, share_id), {"closed": is_closed})
    notice = "link-was-closed" if is_closed else "link-was-opened"
    return visit.follow(response, page_path(tenant_id, "shares", share_id), notice)


@shares.get(f"{_ONE}delete")
def ask_before_deletion(tenant_id: str, share_id: str) -> Any:
    """Show the question before a link is deleted."""
    visit = current_visit()
    share = visit.read(_path(tenant_id, share_id))
    share = {**share, "file": _name_of_file(visit, share)}
    return tenant_page(visit, "my_files/share_delete.html", tenant_id, "shares/", share=share)


@shares.post(f"{_ONE}delete")
def delete_share(tenant_id: str, share_id: str) -> Any:
    """Delete a link with its records."""
    visit = current_visit()
    response = visit.rest("DELETE", _path(tenant_id, share_id))
    return visit.follow(response, page_path(tenant_id, "shares"), "link-deleted")


def _path(tenant_id: str, share_id: str) -> str:
    return tenant_path(tenant_id, "shares", share_id)


def _page(visit: Visit, tenant_id: str, share_id: str, refusal: RestResponse | None = None) -> Any:
    share = visit.read(_path(tenant_id, share_id))
    openings = visit.read(f"{_path(tenant_id, share_id)}/openings", pageNumber=page_number())
    rules = rules_of(share) if refusal is None else given_rules()
    members = offered_members(visit, tenant_id)
    names = member_names(visit, tenant_id) if visit.sought else members
    return tenant_page(
        visit,
        "my_files/share.html",
        tenant_id,
        "shares/",
        refusal=refusal,
        share={**share, "file": _name_of_file(visit, share)},
        rules=rules,
        picture=picture_of(share["url"]) if share["url"] else None,
        members=with_chosen(members, rules["userIds"]),
        creator_name=names.get(share["makerId"]),
        kind_names=KINDS,
        audiences=AUDIENCES,
        states=STATES,
        openings=openings["data"],
        opening_names=OPENINGS,
        links=page_links(openings["meta"]),
    )


def _name_of_file(visit: Visit, share: Mapping[str, Any]) -> str | None:
    """Return the name of the file of a link; ``None`` if it is gone, or hidden from the user."""
    response = visit.rest("GET", node_path(share["tenantId"], share["fileId"]))
    return None if response.error is not None else str(response.json["name"])
