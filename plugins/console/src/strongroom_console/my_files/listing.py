"""The list of a folder, and of the top level."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.page_lists import changed_query, page_links, page_number
from strongroom.plugin_api.visits import Refused, Visit, current_visit
from strongroom_console.my_files.filters import (
    SORTS,
    VIEWS,
    Filters,
    remember_view,
    requested_filters,
    requested_view,
    sort_links,
)
from strongroom_console.my_files.folders import crumbs, files_path
from strongroom_console.my_files.nodes import node_page_path
from strongroom_console.my_files.rows import rows_of
from strongroom_console.tenant.frame import tenant_page

listing: Final = Blueprint("listing", __name__)

ROWS: Final = 100
"""The rows of a page. Twice as many delay its first paint on a slow network by half a second."""

MOST_FOUND: Final = 1000
"""The most nodes that a search of the REST API finds."""


@listing.get("/tenants/<tenant_id>/files/")
@listing.get("/tenants/<tenant_id>/files/<folder_id>/")
def show_folder(tenant_id: str, folder_id: str | None = None) -> Any:
    """Show a page of a folder, of the user's top level, or of what a search finds."""
    visit, filters, number = current_visit(), requested_filters(), page_number()
    page = _page(visit, tenant_id, folder_id, filters, number)
    if page is None:
        return visit.redirect(node_page_path(tenant_id, folder_id or ""))
    folder = visit.host.files.stat(tenant_id, folder_id, with_path=True) if folder_id else None
    response = tenant_page(
        visit,
        "my_files/folder.html",
        tenant_id,
        "files/",
        compress=True,
        folder=folder,
        can_create=folder is None or folder.permission in ("write", "manage"),
        crumbs=crumbs(visit, tenant_id, folder.path) if folder else [],
        **rows_of(page, visit.session.user_id),
        links=page_links(page["meta"]),
        is_cut=filters.is_search and page["meta"]["totalCount"] >= MOST_FOUND,
        filters=filters,
        view=requested_view(),
        sort_links=sort_links(filters.sort),
        views={name: (key, changed_query(view=name)) for name, key in VIEWS.items()},
        **_filter_links(filters, page),
        sorts={value: (key, changed_query(sort=value)) for value, key in SORTS.items()},
        query=changed_query(page=number if number > 1 else None),
    )
    return remember_view(response, visit.root)


def _page(visit: Visit, tenant_id: str, folder_id: str | None, filters: Filters, number: int) -> Any:
    """Return a page of nodes; ``None`` for the id of a file, which a person may have written."""
    try:
        return visit.read(
            filters.path(tenant_id, folder_id),
            pageSize=ROWS,
            pageNumber=number,
            **filters.query(folder_id),
        )
    except Refused as refused:
        if refused.response.error != "error.not-a-folder":
            raise
        return None


def _filter_links(filters: Filters, page: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the page shows of its filters.

    Args:
        page: the nodes of the rows, with the summaries of their owners who still exist.
    """
    owners = {node["owner"]["$ref"] for node in page["data"]}
    return {
        "chips": filters.chips(),
        "periods": filters.periods(),
        "owner_links": {owner: changed_query(owner=owner) for owner in owners},
        "owner_of_filter": _owner_name(filters, page["included"]),
        "all_owners": changed_query(owner=None),
    }


def _owner_name(filters: Filters, included: Mapping[str, Mapping[str, str]]) -> str | None:
    """Return the name of the owner whose nodes the filter shows; ``None`` without such a filter."""
    if filters.owner in ("", "me"):
        return None
    return included.get(filters.owner, {"name": ""})["name"]


@listing.get("/tenants/<tenant_id>/at/<path:names>")
def follow_path(tenant_id: str, names: str) -> Any:
    """Lead to the folder with a path: the links above a folder have names, because ids cost queries."""
    visit = current_visit()
    folder = visit.host.files.resolve(tenant_id, names.split("/"))
    return visit.redirect(files_path(tenant_id, folder.id))
