"""Records of a list page: its nodes as JSON and their owners; cached nodes are not read again."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Select

from strongroom.cache import Cache
from strongroom.database.reader import Ask, Reader
from strongroom.database.statements import Compiled
from strongroom.files.access import NodeView
from strongroom.files.fast_path import pages
from strongroom.files.fast_path.rendering import rendered
from strongroom.files.models import Node, Permission
from strongroom.paging import Paging
from strongroom.users.service import summary

REMEMBERED: Final = 4096
"""Number of nodes cached as JSON, about 500 bytes each."""

PageQuery = Callable[[Paging, pages.Columns], Select[Any]]
Key = tuple[str, int, int]
"""A node's id, its revision and the caller's permission: everything that its JSON depends on."""


@dataclass(frozen=True, slots=True)
class Records:
    """Nodes as JSON, their owners, and the last column of the query's rows, or 0 without rows."""

    nodes: list[str]
    owners: list[dict[str, str]]
    last: int


class PageRecords:
    """Reads pages of nodes.

    Args:
        reader: prepares the queries.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._prepared: dict[tuple[object, ...], Compiled] = {}
        self._remembered: Cache[Key, tuple[str, str]] = Cache(REMEMBERED)

    def read(
        self,
        ask: Ask,
        query: PageQuery,
        paging: Paging,
        parameters: Mapping[str, Any],
        inherited: Permission,
    ) -> Records:
        """Return the records of a page.

        Args:
            ask: runs queries in one read transaction.
            query: builds the query for the given columns of the page's nodes, followed by the caller's
                grant on each node.
            paging: the page.
            parameters: parameters of the query.
            inherited: the caller's permission on all nodes of the page.
        """
        # The keys come first: if all nodes are cached, their remaining columns are not read.
        rows = ask(self._page(query, paging, pages.KEYS), parameters)
        recall = self._remembered.get
        found = [recall((node_id, revision, max(inherited, own))) for node_id, revision, own, *_ in rows]
        # One uncached node needs the same query as all, so all nodes are read and rendered again.
        if None in found:
            whole = ask(self._page(query, paging, pages.WHOLE), parameters)
            found = [self._render(row, inherited) for row in whole]
        known = [record for record in found if record is not None]
        owners = self._owners(ask, {owner_id for _, owner_id in known})
        return Records([text for text, _ in known], owners, rows[0][-1] if rows else 0)

    def _render(self, row: tuple[Any, ...], inherited: Permission) -> tuple[str, str]:
        node = Node(*row[: len(pages.WHOLE)])
        permission = max(inherited, Permission(row[len(pages.WHOLE)]))
        record = (rendered(NodeView(node, permission)), node.owner_id)
        self._remembered.put((node.id, node.revision, permission), record)
        return record

    def _owners(self, ask: Ask, owner_ids: set[str]) -> list[dict[str, str]]:
        if not owner_ids:
            return []
        query = self._prepare(("owners", len(owner_ids)), lambda: pages.owners(len(owner_ids)))
        named = {f"owner{number}": owner_id for number, owner_id in enumerate(owner_ids)}
        return [summary(*row) for row in ask(query, named)]

    def _page(self, query: PageQuery, paging: Paging, columns: pages.Columns) -> Compiled:
        # The page size is part of the statement's text; the offset is a parameter.
        key = (query, columns is pages.WHOLE, paging.size, paging.offset > 0)
        return self._prepare(key, lambda: query(paging, columns))

    def _prepare(self, key: tuple[object, ...], build: Callable[[], Select[Any]]) -> Compiled:
        prepared = self._prepared.get(key)
        if prepared is None:
            prepared = self._prepared[key] = self._reader.prepare(build())
        return prepared
