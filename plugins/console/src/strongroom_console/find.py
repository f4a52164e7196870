"""The search of all that the user sees: spaces, files, users, pages and actions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.pages import MenuGroup
from strongroom.plugin_api.tenants import TenantInfo
from strongroom_console.lists import has_words
from strongroom_console.my_files.nodes import node_icon
from strongroom_console.tenant.frame import tenant_path
from strongroom_console.visit import ConsoleVisit, console_visit

find: Final = Blueprint("find", __name__)

MOST_FOUND: Final = 20
"""The results of one kind."""

MOST_SPACES: Final = 100
"""The spaces whose names are searched."""

MOST_SEARCHED: Final = 5
"""The spaces whose files are searched: the current one, and the first others."""

_LEAST_LETTERS: Final = 2
_LONGEST_TEXT: Final = 255


@dataclass(frozen=True, slots=True)
class FoundNode:
    """A file or folder that the search has found, in its space."""

    name: str
    path: str
    icon: str
    place: str


@find.get("/find")
def show_results() -> Any:
    """Show the search and its results on a page, for browsers without scripts."""
    visit = console_visit()
    return visit.page("find.html", compress=True, **_results(visit))


@find.get("/find/results")
def read_results() -> Any:
    """Return the results alone, which the script of the dialog reads."""
    visit = console_visit()
    return visit.render(
        "find_results.html",
        status=HTTPStatus.OK,
        compress=True,
        is_administrator=visit.is_administrator,
        menu=visit.menu_items(),
        **_results(visit),
    )


def _results(visit: ConsoleVisit) -> Mapping[str, Any]:
    text = " ".join(request.args.get("q", "").split())[:_LONGEST_TEXT]
    tenants = visit.host.tenants.list(size=MOST_SPACES).items
    current = next((item for item in tenants if item.id == request.args.get("in")), None)
    matching = [item for item in tenants if has_words(item.name, text)]
    return {
        "words": text,
        "current": current,
        "spaces": matching[:MOST_FOUND],
        "nodes": _nodes(visit, text, _nearest(tenants, current)) if _is_sought(text) else [],
        "users": _users(visit, text) if visit.is_administrator and _is_sought(text) else [],
        "groups": _groups(visit, current),
        "has_words": has_words,
    }


def _is_sought(text: str) -> bool:
    """Return whether a text is long enough; one Chinese character is a word."""
    return len(text) >= _LEAST_LETTERS or not text.isascii()


def _nearest(tenants: Sequence[TenantInfo], current: TenantInfo | None) -> Sequence[TenantInfo]:
    first = [] if current is None else [current]
    return [*first, *(item for item in tenants if item is not current)][:MOST_SEARCHED]


def _nodes(visit: ConsoleVisit, text: str, tenants: Sequence[TenantInfo]) -> Sequence[FoundNode]:
    nodes: list[FoundNode] = []
    for tenant in tenants:
        if len(nodes) < MOST_FOUND:
            nodes += _search_space(visit, text, tenant, MOST_FOUND - len(nodes))
    return nodes


def _search_space(visit: ConsoleVisit, text: str, tenant: TenantInfo, most: int) -> list[FoundNode]:
    """Return the nodes of one space; none of a space that demands another login."""
    nodes = visit.find(tenant_path(tenant.id, "search"), query=text, include="path", pageSize=most)
    root = f"{visit.root}/tenants/{tenant.id}"
    return [
        FoundNode(
            node["name"],
            f"{root}/files/{node['id']}/" if node["type"] == "folder" else f"{root}/nodes/{node['id']}",
            node_icon(node["contentType"]),
            " / ".join([tenant.name, *node["path"][:-1]]),
        )
        for node in nodes
    ]


def _users(visit: ConsoleVisit, text: str) -> Sequence[Mapping[str, Any]]:
    return visit.find("/users", q=text, pageSize=MOST_FOUND)


def _groups(visit: ConsoleVisit, current: TenantInfo | None) -> Sequence[MenuGroup]:
    """Return the sections of the current space and of the server."""
    of_server = visit.host.pages.sections() if visit.is_administrator else []
    if current is None:
        return of_server
    tenant = visit.host.tenants.get(current.id)
    return [*visit.host.pages.sections(tenant), *of_server]
