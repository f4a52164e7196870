"""The trash: what was deleted, restored or removed permanently."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import STALE, Visit, current_visit
from strongroom_console.lists import MAX_PAGE_SIZE
from strongroom_console.my_files.nodes import node_icon
from strongroom_console.my_files.selection import (
    change_nodes,
    selected_nodes,
    show_outcome,
    show_results,
)
from strongroom_console.tenant.frame import page_path, tenant_page, tenant_path

trash: Final = Blueprint("trash", __name__)

_ROOT: Final = "/tenants/<tenant_id>/trash"


@trash.get(f"{_ROOT}/")
def show_trash(tenant_id: str) -> Any:
    """Show a page of what the user deleted; for administrators of the tenant, of what all deleted."""
    visit = current_visit()
    page = visit.read(tenant_path(tenant_id, "trash"), pageSize=MAX_PAGE_SIZE, pageNumber=page_number())
    rows = [_row(node, page["included"]) for node in page["data"]]
    return _page(
        visit,
        tenant_id,
        "my_files/trash.html",
        compress=True,
        rows=rows,
        has_others=any(row["trashedBy"]["$ref"] != visit.session.user_id for row in rows),
        links=page_links(page["meta"]),
    )


@trash.post(f"{_ROOT}/restore")
def restore_trashed(tenant_id: str) -> Any:
    """Restore the selected nodes to their folders, or to the top level if the form says so."""
    visit = current_visit()
    place = {"parentId": None} if "top" in request.form else {}
    response = change_nodes(visit, tenant_id, "restore", onConflict="rename", **place)
    return show_outcome(visit, tenant_id, response, _path(tenant_id), "nodes-restored")


@trash.post(f"{_ROOT}/remove")
def remove_trashed(tenant_id: str) -> Any:
    """Ask whether to remove the selected nodes permanently, and remove them once that is confirmed."""
    visit, nodes, results = current_visit(), selected_nodes(), list[Mapping[str, Any]]()
    if not nodes:
        return visit.redirect(_path(tenant_id), "nothing-selected")
    if "confirmed" not in request.form:
        return _page(visit, tenant_id, "my_files/removal.html", nodes=nodes)
    for node in nodes:
        response = visit.rest("DELETE", tenant_path(tenant_id, "trash", node))
        if response.error in STALE:
            return visit.follow(response, _path(tenant_id))
        results.append({"fileId": node, "error": response.json["error"] if response.error else None})
    return show_results(visit, tenant_id, results, _path(tenant_id), "nodes-deleted")


@trash.get(f"{_ROOT}/empty")
def ask_to_empty(tenant_id: str) -> Any:
    """Ask whether to remove everything in the trash."""
    return _page(current_visit(), tenant_id, "my_files/trash_emptying.html")


@trash.post(f"{_ROOT}/empty")
def empty_trash(tenant_id: str) -> Any:
    """Remove everything in the trash but what is held or retained."""
    visit = current_visit()
    response = visit.rest("DELETE", tenant_path(tenant_id, "trash"))
    if response.error is not None:
        return visit.follow(response, f"{_path(tenant_id)}empty")
    return visit.redirect(_path(tenant_id), "trash-emptied")


def _page(visit: Visit, tenant_id: str, template: str, **values: Any) -> Any:
    back = f"{visit.root}{_path(tenant_id)}"
    return tenant_page(visit, template, tenant_id, "trash/", back=back, **values)


def _path(tenant_id: str) -> str:
    return page_path(tenant_id, "trash")


def _row(node: Mapping[str, Any], included: Mapping[str, Mapping[str, str]]) -> Mapping[str, Any]:
    return {
        **node,
        "icon": node_icon(node["contentType"]),
        "size_text": size_text(node["size"]),
        "trashed_by_name": included.get(node["trashedBy"]["$ref"], {}).get("name", ""),
    }
