"""Fast path for pages of the caller's own lists, up to the offset ``MAX_OFFSET``."""

import re
from collections.abc import Mapping
from typing import Any, Final

from strongroom.clock import Clock
from strongroom.database.reader import Ask, Reader
from strongroom.files.child_counts import run_at, runs
from strongroom.files.fast_path import pages
from strongroom.files.fast_path.records import PageQuery, PageRecords, Records
from strongroom.files.fast_path.rendering import as_list
from strongroom.files.models import NodeType, Permission
from strongroom.paging import Page, Paging
from strongroom.sessions.store import was_seen_lately
from strongroom.web.envelope import DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Links, envelope
from strongroom.web.fast_path import FastRoute, PlainAnswer, PlainRequest

MAX_OFFSET: Final = 1_000_000
"""Maximum number of skipped records; the ordinary route serves deeper pages."""

_TOP: Final = "/api/v1/tenants/<tenant_id>/owners/<owner_id>/files"
_MINE: Final = {"owner_id": "me"}

_NUMBER: Final = re.compile("[1-9][0-9]{0,8}")


class FastLists:
    """Returns a page of the nodes that the caller can see at the top level or in a folder.

    Args:
        reader: runs the queries.
        clock: decides which grants have expired.
        root: scheme, host and port of links.
    """

    def __init__(self, reader: Reader, clock: Clock, root: str) -> None:
        self._reader = reader
        self._clock = clock
        self._root = root
        self._guard = reader.prepare(pages.guard())
        self._runs = reader.prepare(runs())
        self._records = PageRecords(reader)

    def routes(self) -> list[FastRoute]:
        """Return the fast routes."""
        inside = f"{_TOP}/<parent_id>/files"
        return [
            FastRoute(_TOP, self._answer_top, _MINE),
            FastRoute(inside, self._answer_inside, _MINE),
        ]

    def _answer_top(self, request: PlainRequest) -> PlainAnswer | None:
        # Only administrators have a permission on the root, because it is never granted. For other
        # members the query of granted nodes is used.
        return self._answer(request, request.places["tenant_id"], unseen=pages.granted)

    def _answer_inside(self, request: PlainRequest) -> PlainAnswer | None:
        parent_id = request.places["parent_id"]
        # The root is not a folder for clients; the ordinary route returns the error.
        return None if parent_id == request.places["tenant_id"] else self._answer(request, parent_id)

    def _answer(
        self, request: PlainRequest, folder_id: str, *, unseen: PageQuery | None = None
    ) -> PlainAnswer | None:
        """Return a page of a folder, or of the query ``unseen`` if the caller cannot see the folder."""
        paging = plain_paging(request.query)
        if paging is None:
            return None
        now = self._clock.now()
        parameters = {
            "user_id": request.claims.user_id,
            "authorization_id": request.claims.authorization_id,
            "tenant_id": request.places["tenant_id"],
            "node_id": folder_id,
            "now": now,
            "offset": paging.offset,
        }

        def read(ask: Ask) -> PlainAnswer | None:
            found = ask(self._guard, parameters)
            if not found or not was_seen_lately(found[0][0], now) or found[0][1] != NodeType.FOLDER:
                return None
            permission, total = Permission(found[0][2]), found[0][3]
            if permission >= Permission.READ:
                records = self._children(ask, permission, paging, parameters)
                return self._page(request, paging, total, records)
            if unseen is None:
                return None
            records = self._records.read(ask, unseen, paging, parameters, permission)
            # The total is read from the rows, so an empty page beyond the end has none.
            if not records.nodes and paging.offset:
                return None
            return self._page(request, paging, records.last, records)

        return self._reader.read_transaction(read)

    def _children(
        self, ask: Ask, permission: Permission, paging: Paging, parameters: Mapping[str, Any]
    ) -> Records:
        query = pages.managed if permission is Permission.MANAGE else pages.children
        if paging.offset:
            first_name, passed = run_at(ask(self._runs, parameters), paging.offset)
            parameters = {**parameters, "first_name": first_name, "passed": passed}
        return self._records.read(ask, query, paging, parameters, permission)

    def _page(self, request: PlainRequest, paging: Paging, total: int, records: Records) -> PlainAnswer:
        links = Links(self._root, request.path)
        page = envelope(Page([], total, paging), included=records.owners, links=links)
        return as_list(page, records.nodes)


def plain_paging(query: str) -> Paging | None:
    """Return the page of a query string, or ``None`` if it is too deep or has other parameters."""
    given: dict[str, int] = {}
    for name, _, value in (item.partition("=") for item in query.split("&") if query):
        if name not in ("pageSize", "pageNumber") or name in given or not _NUMBER.fullmatch(value):
            return None
        given[name] = int(value)
    paging = Paging(given.get("pageNumber", 1), given.get("pageSize", DEFAULT_PAGE_SIZE))
    return paging if paging.size <= MAX_PAGE_SIZE and paging.offset <= MAX_OFFSET else None
