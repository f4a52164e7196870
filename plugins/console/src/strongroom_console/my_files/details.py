"""The details of a file or folder, and for administrators what was done with it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import Visit, current_visit
from strongroom_console.days import find_days
from strongroom_console.file_actions import ACTIONS
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.my_files.nodes import node_page, node_page_path, node_path, read_node
from strongroom_console.my_files.previews import TEXT_BYTES, preview_of, read_text
from strongroom_console.tenant.frame import tenant_path
from strongroom_console.tenant.member_list import member_names

details: Final = Blueprint("details", __name__)

SCANS: Final = {
    "pending": "scan-pending",
    "clean": "scan-clean",
    "unscannable": "scan-unscannable",
    "infected": "scan-infected",
    "rejected": "scan-rejected",
}
"""The keys of the states of scans; content that no scanner has seen has no text."""


@details.get("/tenants/<tenant_id>/nodes/<node_id>")
def show_details(tenant_id: str, node_id: str) -> Any:
    """Show the facts of a file or folder, and its preview."""
    visit = current_visit()
    node = read_node(visit, tenant_id, node_id)
    preview = preview_of(node)
    owner_id = node["owner"]["$ref"].rpartition("/")[2]
    return node_page(
        visit,
        "my_files/node_details.html",
        node,
        preview=preview,
        text_of_file=read_text(visit, node) if preview == "text" else None,
        is_cut=node["size"] > TEXT_BYTES,
        locks=_locks(visit, tenant_id, node_id),
        owner_is_me=owner_id == visit.session.user_id,
        owner_name=member_names(visit, tenant_id).get(owner_id),
        scan=SCANS.get(node["scan"]),
    )


@details.post("/tenants/<tenant_id>/nodes/<node_id>/unlock")
def unlock(tenant_id: str, node_id: str) -> Any:
    """Release a lock that covers a file or folder."""
    visit = current_visit()
    lock_id = request.form.get("lock", "")
    response = visit.rest("DELETE", tenant_path(tenant_id, "files", node_id, "locks", lock_id))
    return visit.follow(response, node_page_path(tenant_id, node_id), "unlocked")


@details.get("/tenants/<tenant_id>/nodes/<node_id>/activity")
def show_activity(tenant_id: str, node_id: str) -> Any:
    """Show what was done with a file or folder, to administrators of the tenant."""
    visit = current_visit()
    node = read_node(visit, tenant_id, node_id)
    page = visit.read(
        f"{tenant_path(tenant_id)}/file-events",
        nodeId=node_id,
        pageSize=PAGE_SIZE,
        pageNumber=page_number(),
    )
    return node_page(
        visit,
        "my_files/node_activity.html",
        node,
        "activity",
        days=find_days(page["data"]),
        included=page["included"],
        links=page_links(page["meta"]),
        actions=ACTIONS,
    )


def _locks(visit: Visit, tenant_id: str, node_id: str) -> Sequence[Mapping[str, Any]]:
    """Return the locks that cover a file or folder, with the names of their holders."""
    records = visit.read_all(f"{node_path(tenant_id, node_id)}/locks")
    return [
        {
            **lock,
            "by": records.included.get(lock["lockedBy"]["$ref"], {}).get("name", ""),
            "is_mine": lock["lockedBy"]["$ref"] == visit.session.user_id,
        }
        for lock in records.data
    ]
