"""The list of a folder, and of the top level."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from flask import Blueprint, request

from strongroom_console.lists import MAX_PAGE_SIZE, page_links, page_number
from strongroom_console.my_files.rows import row
from strongroom_console.tenant.frame import tenant_page, tenant_path
from strongroom_console.visit import Visit, current_visit

listing: Final = Blueprint("listing", __name__)

SORTS: Final = ("name", "-name", "updatedAt", "-updatedAt", "size", "-size", "type", "-type")


@listing.get("/tenants/<tenant_id>/files/")
@listing.get("/tenants/<tenant_id>/files/<folder_id>/")
def show_folder(tenant_id: str, folder_id: str | None = None) -> Any:
    """Show a page of a folder, or of the user's top level."""
    visit = current_visit()
    inner = f"/{folder_id}/files" if folder_id else ""
    sort = request.args.get("sort")
    page = visit.read(
        f"{tenant_path(tenant_id)}/owners/me/files{inner}",
        pageSize=MAX_PAGE_SIZE,
        pageNumber=page_number(),
        sort=sort if sort in SORTS else None,
    )
    folder = read_folder(visit, tenant_id, folder_id)
    return tenant_page(
        visit,
        "my_files/folder.html",
        tenant_id,
        "files/",
        folder=folder,
        can_create=folder is None or folder["permission"] in ("write", "manage"),
        crumbs=crumbs(visit, folder) if folder else [],
        rows=[row(item, page["included"]) for item in page["data"]],
        links=page_links(page["meta"]),
        sort=sort or "name",
    )


@listing.get("/tenants/<tenant_id>/at/<path:names>")
def follow_path(tenant_id: str, names: str) -> Any:
    """Lead to the folder with a path: the links above a folder have names, because ids cost queries."""
    visit = current_visit()
    folder = visit.host.files.resolve(tenant_id, names.split("/"))
    return visit.redirect(files_path(tenant_id, folder.id))


def files_path(tenant_id: str, folder_id: str | None) -> str:
    """Return the path of the list of a folder, or of the top level, below that of the console."""
    return f"/tenants/{tenant_id}/files/{folder_id}/" if folder_id else f"/tenants/{tenant_id}/files/"


def crumbs(visit: Visit, node: Mapping[str, Any]) -> Sequence[Mapping[str, str]]:
    """Return the folders above a node, which was read with ``include=path``."""
    root = f"{visit.root}/tenants/{node['tenantId']}/at"
    names = node["path"]
    return [
        {"name": name, "url": f"{root}/{'/'.join(quote(part, safe='') for part in names[: depth + 1])}"}
        for depth, name in enumerate(names[:-1])
    ]


def read_folder(visit: Visit, tenant_id: str, folder_id: str | None) -> Any:
    """Return the folder with the path to it; ``None`` for the top level."""
    if folder_id is None:
        return None
    return visit.read(f"{tenant_path(tenant_id)}/files/{folder_id}", include="path")
