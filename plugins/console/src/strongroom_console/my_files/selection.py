"""What the pages do with the selected files and folders of a list: move, copy, delete and restore."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs

from flask import request

from strongroom.plugin_api.visits import Flash, Visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.my_files.folders import files_path
from strongroom_console.my_files.nodes import node_path
from strongroom_console.tenant.frame import tenant_page, tenant_path
from strongroom_console.visit import text_of_error

MOST_NODES: Final = 1000
"""The most that one request changes, as in the REST API."""

_LONGEST_QUERY: Final = 1000
_NAMED: Final = 20
"""The most failed items whose names are read."""

_MOST_UNDONE: Final = 20
"""The most nodes that a notice offers to restore, because a cookie has room for no more ids."""


def selected_nodes() -> Sequence[str]:
    """Return the ids that the form selects, each once."""
    return list(dict.fromkeys(request.form.getlist("node")))[:MOST_NODES]


def selected_folder() -> str | None:
    """Return the id of the folder of the list; ``None`` for the top level."""
    return request.form.get("folder") or None


def is_of_search() -> bool:
    """Return whether the list that the form belongs to has nodes of several folders."""
    query = parse_qs(request.form.get("query", "")[:_LONGEST_QUERY].lstrip("?"))
    return bool(query.get("q")) and query.get("in", ["folder"]) != ["folder"]


def list_path(tenant_id: str) -> str:
    """Return the path of the list that the form belongs to, with its filters."""
    query = request.form.get("query", "")[:_LONGEST_QUERY].lstrip("?")
    return files_path(tenant_id, selected_folder()) + (f"?{query}" if query else "")


def change_nodes(visit: Visit, tenant_id: str, operation: str, **values: Any) -> RestResponse:
    """Change the selected nodes; each fails or succeeds alone.

    Args:
        operation: a change of ``POST .../files-batches``.
        values: the other members of each item.
    """
    items = [{"operation": operation, "fileId": node, **values} for node in selected_nodes()]
    return visit.rest("POST", tenant_path(tenant_id, "files-batches"), {"atomic": False, "items": items})


def show_outcome(
    visit: Visit,
    tenant_id: str,
    response: RestResponse,
    path: str,
    notice: str,
    *,
    can_undo: bool = False,
    undo_at: str | None = None,
) -> Any:
    """Return the response after a change of nodes: the list with a notice, or a page of what failed.

    Args:
        path: the path of the list.
        notice: the key of the text after a success, with the number of items as ``{count}``.
        can_undo: whether the notice offers to restore the nodes, or to move them back.
        undo_at: the id of the folder that they are moved back to; empty for the top level.
    """
    if not selected_nodes():
        return visit.redirect(path, "nothing-selected")
    if response.error is not None:
        return visit.follow(response, path)
    results = response.json["results"]
    return show_results(visit, tenant_id, results, path, notice, can_undo=can_undo, undo_at=undo_at)


def show_results(
    visit: Visit,
    tenant_id: str,
    results: Sequence[Mapping[str, Any]],
    path: str,
    notice: str,
    *,
    can_undo: bool = False,
    undo_at: str | None = None,
) -> Any:
    """Do as :func:`show_outcome` with the results of all nodes.

    Args:
        results: the id of each node as ``fileId``, and its ``error`` of the REST API or ``None``.
    """
    failed = [result for result in results if result["error"] is not None]
    if not failed:
        nodes = [result["fileId"] for result in results]
        undo = nodes if can_undo and len(nodes) <= _MOST_UNDONE else []
        values = {"undo": undo, "undo_at": undo_at}
        visit.flash(Flash(notice, {"count": str(len(results))}, values=values))
        return visit.redirect(path)
    if len(results) == 1:
        return visit.refuse(path, text_of_error(failed[0]["error"]))
    return _show_failures(visit, tenant_id, failed, path, done=len(results) - len(failed))


def selection_page(visit: Visit, template: str, tenant_id: str, **values: Any) -> Any:
    """Return the response with a page that asks for more, and whose form repeats the selection."""
    return tenant_page(
        visit,
        template,
        tenant_id,
        "files/",
        nodes=selected_nodes(),
        origin=selected_folder() or "",
        query=request.form.get("query", ""),
        back=f"{visit.root}{list_path(tenant_id)}",
        **values,
    )


def _show_failures(
    visit: Visit, tenant_id: str, failed: Sequence[Mapping[str, Any]], path: str, *, done: int
) -> Any:
    names = _names(visit, tenant_id, [result["fileId"] for result in failed[:_NAMED]])
    named = [
        {"name": names.get(result["fileId"]), "problem": text_of_error(result["error"])}
        for result in failed[:_NAMED]
    ]
    return tenant_page(
        visit,
        "my_files/failures.html",
        tenant_id,
        f"{path.split('/')[3]}/",
        status=HTTPStatus.BAD_REQUEST,
        failures=named,
        further=len(failed) - len(named),
        done=done,
        back=f"{visit.root}{path}",
    )


def _names(visit: Visit, tenant_id: str, nodes: Sequence[str]) -> Mapping[str, str]:
    """Return the names of nodes by their ids, also of those in the trash."""
    trash = visit.read_all(tenant_path(tenant_id, "trash"))
    names = {node["id"]: node["name"] for node in trash.data}
    for node in nodes:
        response = visit.rest("GET", node_path(tenant_id, node))
        names |= {} if response.error else {node: response.json["name"]}
    return names
