"""The first pages of a user's own lists, fast."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import Select

from strongroom.authorizations.sessions import was_seen_lately
from strongroom.clock import Clock
from strongroom.database.prepared import PreparedQuery, Reader
from strongroom.files.access import NodeView
from strongroom.files.fast_path import pages
from strongroom.files.fast_path.rendering import as_json, render
from strongroom.files.models import Node, NodeType, Permission, nodes
from strongroom.paging import Page, Paging
from strongroom.tenants.models import Role
from strongroom.users.service import summary
from strongroom.web.envelope import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Links, envelope
from strongroom.web.fast_path import FastRoute, PlainAnswer, PlainGet

MAX_OFFSET: Final = 5000
"""How many records are passed over one by one; deeper pages are sought by the ordinary route."""

_TOP: Final = "/api/v1/tenants/<tenant_id>/owners/<owner_id>/files"
_MINE: Final = {"owner_id": "me"}
_GUARDS: Final = len(pages.GUARD_COLUMNS)
_LEVELS: Final = tuple(Permission)
_OWNER: Final = list(nodes.c).index(nodes.c.owner_id)

_NUMBER: Final = re.compile("[1-9][0-9]{0,8}")

PageQuery = Callable[[Paging], Select[Any]]


class FastLists:
    """Answers with a page of what the caller sees at the top, or in a folder.

    Args:
        reader: runs the queries.
        clock: the time.
        root: the scheme, host and port that links begin with.
    """

    def __init__(self, reader: Reader, clock: Clock, root: str) -> None:
        self._reader = reader
        self._clock = clock
        self._root = root
        self._role = reader.prepare(pages.role())
        self._prepared: dict[tuple[PageQuery, int, bool], PreparedQuery] = {}

    def routes(self) -> list[FastRoute]:
        """Return what is answered."""
        inside = f"{_TOP}/<parent_id>/files"
        return [
            FastRoute(_TOP, self._answer_top, _MINE),
            FastRoute(inside, self._answer_inside, _MINE),
        ]

    def _answer_top(self, request: PlainGet) -> PlainAnswer | None:
        tenant_id = request.places["tenant_id"]
        asked = {"tenant_id": tenant_id, "user_id": request.claims.user_id}
        # Which list it is; whether that is so when the list is read, the list's own query decides.
        for (role,) in self._reader.run(self._role, asked) or ():
            if role == Role.ADMIN.value:
                return self._answer(request, pages.children, tenant_id, Permission.MANAGE)
            return self._answer(request, pages.granted, tenant_id, Permission.NONE)
        return None

    def _answer_inside(self, request: PlainGet) -> PlainAnswer | None:
        parent_id = request.places["parent_id"]
        if parent_id == request.places["tenant_id"]:
            # The root is never shown.
            return None
        return self._answer(request, pages.children, parent_id, Permission.READ)

    def _answer(
        self, request: PlainGet, query: PageQuery, folder_id: str, needed: Permission
    ) -> PlainAnswer | None:
        paging = plain_paging(request.query)
        rows = paging and self._rows(request, query, folder_id, paging)
        if not paging or not rows:
            return None
        last_seen_at, kind, permission, total = rows[0][:_GUARDS]
        is_shown = kind == NodeType.FOLDER and permission >= needed
        if not is_shown or not was_seen_lately(last_seen_at, self._clock.now()):
            return None
        page = _page(rows, Permission(permission), total, paging)
        owners = {row[_GUARDS + _OWNER]: row[-1] for row in rows if row[_GUARDS] is not None}
        included = [summary(owner, name) for owner, name in sorted(owners.items())]
        return as_json(envelope(page, render, included, Links(self._root, request.path)))

    def _rows(
        self, request: PlainGet, query: PageQuery, folder_id: str, paging: Paging
    ) -> Sequence[tuple[Any, ...]] | None:
        parameters = {
            "user_id": request.claims.user_id,
            "authorization_id": request.claims.authorization_id,
            "tenant_id": request.places["tenant_id"],
            "node_id": folder_id,
            "now": self._clock.now(),
            "offset": paging.offset,
        }
        return self._reader.run(self._prepare(query, paging), parameters)

    def _prepare(self, query: PageQuery, paging: Paging) -> PreparedQuery:
        key = (query, paging.size, paging.offset > 0)
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepared[key] = self._reader.prepare(query(paging))
        return prepared


def plain_paging(query: str) -> Paging | None:
    """Return the page that a query string asks for, or ``None`` if it is far off or asks for more."""
    given: dict[str, int] = {}
    for name, _, value in (item.partition("=") for item in query.split("&") if query):
        if name not in ("pageSize", "pageNumber") or name in given or not _NUMBER.fullmatch(value):
            return None
        given[name] = int(value)
    paging = Paging(given.get("pageNumber", 1), given.get("pageSize", DEFAULT_PAGE_SIZE))
    return paging if paging.size <= MAX_PAGE_SIZE and paging.offset <= MAX_OFFSET else None


def _page(
    rows: Sequence[tuple[Any, ...]], inherited: Permission, total: int, paging: Paging
) -> Page[NodeView]:
    views = [
        NodeView(Node(*row[_GUARDS:-2]), _LEVELS[max(inherited, row[-2])])
        for row in rows
        if row[_GUARDS] is not None
    ]
    return Page(views, total, paging)
