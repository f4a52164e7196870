"""Deletion, restoration, moves and copies of selected files and folders, and new names."""

from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.visits import current_visit
from strongroom_console.my_files.conflicts import requested_rule
from strongroom_console.my_files.folders import files_path
from strongroom_console.my_files.nodes import node_page_path, node_path
from strongroom_console.my_files.selection import (
    change_nodes,
    is_of_search,
    list_path,
    selected_folder,
    selected_nodes,
    selection_page,
    show_outcome,
)
from strongroom_console.tenant.frame import tenant_page

changes: Final = Blueprint("changes", __name__)

_SELECTION: Final = "/tenants/<tenant_id>/selection"
_DONE: Final = {"move": "nodes-moved", "copy": "nodes-copied"}


@changes.post(f"{_SELECTION}/delete")
def delete_nodes(tenant_id: str) -> Any:
    """Delete the selected nodes; ask before it if the server has no trash."""
    visit, path = current_visit(), list_path(tenant_id)
    if visit.host.files.has_trash:
        response = change_nodes(visit, tenant_id, "trash")
        return show_outcome(visit, tenant_id, response, path, "nodes-trashed", can_undo=True)
    if "confirmed" in request.form or not selected_nodes():
        return show_outcome(
            visit, tenant_id, change_nodes(visit, tenant_id, "trash"), path, "nodes-deleted"
        )
    return selection_page(visit, "my_files/deletion.html", tenant_id)


@changes.post(f"{_SELECTION}/restore")
def restore_nodes(tenant_id: str) -> Any:
    """Take a deletion back; a node whose name is taken meanwhile gets a free one."""
    visit = current_visit()
    response = change_nodes(visit, tenant_id, "restore", onConflict="rename")
    return show_outcome(visit, tenant_id, response, list_path(tenant_id), "nodes-restored")


@changes.post(f"{_SELECTION}/<any(move, copy):operation>-here")
def place_nodes(tenant_id: str, operation: str) -> Any:
    """Move or copy the selected nodes into the folder that the page before shows."""
    visit = current_visit()
    response = change_nodes(
        visit,
        tenant_id,
        operation,
        parentId=request.form.get("at") or None,
        onConflict=requested_rule(request.form),
    )
    return show_outcome(
        visit,
        tenant_id,
        response,
        list_path(tenant_id),
        _DONE[operation],
        can_undo=operation == "move" and not is_of_search() and "undoes" not in request.form,
        undo_at=selected_folder() or "",
    )


@changes.post(f"{_SELECTION}/<any(details, share, rename):page>")
def open_node(tenant_id: str, page: str) -> Any:
    """Lead from the list to a page of the one selected node."""
    visit, nodes = current_visit(), selected_nodes()
    if len(nodes) != 1:
        return visit.redirect(list_path(tenant_id), "select-one")
    return visit.redirect(node_page_path(tenant_id, nodes[0], "" if page == "details" else page))


@changes.get("/tenants/<tenant_id>/nodes/<node_id>/rename")
def show_rename(tenant_id: str, node_id: str) -> Any:
    """Show the form for the new name of a node."""
    return _rename_page(tenant_id, node_id)


@changes.post("/tenants/<tenant_id>/nodes/<node_id>/rename")
def rename_node(tenant_id: str, node_id: str) -> Any:
    """Rename a node, and show its folder."""
    visit, name = current_visit(), request.form.get("name", "").strip()
    response = visit.rest("PATCH", node_path(tenant_id, node_id), {"name": name})
    if response.error is not None:
        return _rename_page(tenant_id, node_id, refusal=response, name=name)
    path = files_path(tenant_id, response.json["parentId"])
    return visit.redirect(path, "node-renamed", name=response.json["name"])


def _rename_page(tenant_id: str, node_id: str, **values: Any) -> Any:
    visit = current_visit()
    node = visit.read(node_path(tenant_id, node_id))
    back = f"{visit.root}{files_path(tenant_id, node['parentId'])}"
    return tenant_page(
        visit, "my_files/rename.html", tenant_id, "files/", node=node, back=back, **values
    )
