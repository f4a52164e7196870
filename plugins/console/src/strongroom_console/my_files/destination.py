"""The page that chooses the folder for a move or copy, by walking through folders.

The selected nodes are fields of its form, since a URL has no room for them; so the way from folder to
folder is by POST, which changes nothing.
"""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import Refused, Visit, current_visit
from strongroom_console.lists import MAX_PAGE_SIZE
from strongroom_console.my_files.nodes import read_node
from strongroom_console.my_files.selection import (
    list_path,
    selected_folder,
    selected_nodes,
    selection_page,
)
from strongroom_console.tenant.frame import tenant_path

destination: Final = Blueprint("destination", __name__)


@destination.post("/tenants/<tenant_id>/selection/<any(move, copy):operation>")
def choose_destination(tenant_id: str, operation: str) -> Any:
    """Show the folders in a folder, which is the list's at first."""
    visit = current_visit()
    if not selected_nodes():
        return visit.redirect(list_path(tenant_id), "nothing-selected")
    folder = _folder(visit, tenant_id)
    page = _folders(visit, tenant_id, folder)
    return selection_page(
        visit,
        "my_files/destination.html",
        tenant_id,
        operation=operation,
        folder=folder,
        names=folder["path"] if folder else [],
        folders=page["data"],
        links=page_links(page["meta"]),
        may_place=folder is None or folder["permission"] in ("write", "manage"),
    )


def _folder(visit: Visit, tenant_id: str) -> Any:
    """Return the folder to show; ``None``, the top level, also above what the user sees."""
    chosen = request.form.get("at", selected_folder()) or None
    try:
        return read_node(visit, tenant_id, chosen) if chosen else None
    except Refused:
        return None


def _folders(visit: Visit, tenant_id: str, folder: Mapping[str, Any] | None) -> Any:
    inner = (folder["id"], "files") if folder else ()
    return visit.read(
        tenant_path(tenant_id, "owners", "me", "files", *inner),
        type="folder",
        pageSize=MAX_PAGE_SIZE,
        pageNumber=page_number(),
    )
