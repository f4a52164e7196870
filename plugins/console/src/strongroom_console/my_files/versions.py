"""The earlier contents of a file: listed, downloaded, restored, labelled, kept and removed."""

from collections.abc import Mapping
from http import HTTPStatus
from itertools import count
from typing import Any, Final, cast
from urllib.parse import urlencode

from flask import Blueprint, request
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import Visit, current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.lists import MAX_PAGE_SIZE, PAGE_SIZE
from strongroom_console.my_files.nodes import node_page, node_page_path, node_path, read_node

versions: Final = Blueprint("versions", __name__)

_VERSIONS: Final = "/tenants/<tenant_id>/nodes/<node_id>/versions"
_ONE: Final = f"{_VERSIONS}/<int:number>"


@versions.get(_VERSIONS)
def show_versions(tenant_id: str, node_id: str) -> Any:
    """Show the earlier contents of a file, the newest first."""
    visit = current_visit()
    node = read_node(visit, tenant_id, node_id)
    page = visit.read(
        f"{node_path(tenant_id, node_id)}/versions", pageSize=PAGE_SIZE, pageNumber=page_number()
    )
    return node_page(
        visit,
        "my_files/node_versions.html",
        node,
        "versions",
        versions=page["data"],
        included=page["included"],
        links=page_links(page["meta"]),
    )


@versions.get(f"{_ONE}/download")
def download_version(tenant_id: str, node_id: str, number: int) -> Any:
    """Send an earlier content of a file, or ranges of it."""
    return current_visit().host.files.send_version(tenant_id, node_id, number)


@versions.post(f"{_ONE}/restore")
def restore_version(tenant_id: str, node_id: str, number: int) -> Any:
    """Give a file an earlier content again; the current content becomes a version."""
    visit = current_visit()
    response = visit.rest("POST", f"{node_path(tenant_id, node_id)}/versions/{number}/restore")
    return visit.follow(response, node_page_path(tenant_id, node_id, "versions"), "version-restored")


@versions.get(_ONE)
def show_version(tenant_id: str, node_id: str, number: int) -> Any:
    """Show the form for an earlier content, and the question before it is removed."""
    return _form(current_visit(), tenant_id, node_id, number)


@versions.post(_ONE)
def change_version(tenant_id: str, node_id: str, number: int) -> Any:
    """Label an earlier content, and keep it or not."""
    visit = current_visit()
    body = {
        "label": request.form.get("label", "").strip() or None,
        "keep": request.form.get("keep") == "true",
    }
    response = visit.rest("PATCH", f"{node_path(tenant_id, node_id)}/versions/{number}", body)
    if response.status == HTTPStatus.BAD_REQUEST:
        return _form(visit, tenant_id, node_id, number, refusal=response)
    return visit.follow(response, node_page_path(tenant_id, node_id, "versions"), "version-changed")


@versions.post(f"{_ONE}/delete")
def delete_version(tenant_id: str, node_id: str, number: int) -> Any:
    """Remove an earlier content permanently."""
    visit = current_visit()
    path = f"{node_path(tenant_id, node_id)}/versions/{number}{override_query()}"
    response = visit.rest("DELETE", path)
    page = node_page_path(tenant_id, node_id, "versions")
    is_done = response.error is None
    return visit.follow(response, page if is_done else f"{page}/{number}", "version-deleted")


def override_query() -> str:
    """Return the query with the reason for which an administrator overrides a rule, if one was given."""
    reason = request.form.get("overrideReason", "").strip()
    return f"?{urlencode({'overrideReason': reason})}" if reason else ""


def _form(
    visit: Visit, tenant_id: str, node_id: str, number: int, *, refusal: RestResponse | None = None
) -> Any:
    node = read_node(visit, tenant_id, node_id)
    return node_page(
        visit,
        "my_files/node_version.html",
        node,
        "versions",
        refusal=refusal,
        version=_find(visit, tenant_id, node_id, number),
        label=request.form.get("label"),
    )


def _find(visit: Visit, tenant_id: str, node_id: str, number: int) -> Mapping[str, Any]:
    """Return a version by its number, in the pages of the list.

    Raises:
        NotFound: the file has no such version.
    """
    for number_of_page in count(1):
        page = visit.read(
            f"{node_path(tenant_id, node_id)}/versions",
            pageSize=MAX_PAGE_SIZE,
            pageNumber=number_of_page,
        )
        version = next((item for item in page["data"] if item["number"] == number), None)
        if version is not None:
            return cast("Mapping[str, Any]", version)
        if not page["meta"]["hasNextPage"]:
            break
    raise NotFound
