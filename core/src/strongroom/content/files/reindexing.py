"""Repairs the index of names, sort keys, the order of top-level lists and the counts of large folders.

Servers can use them meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, func, select, update

from strongroom.content.nodes import child_counts, order_counts
from strongroom.content.nodes.grant_copies import correct_copies, find_wrong_copies
from strongroom.content.nodes.models import NODE, nodes
from strongroom.content.nodes.name_index import NAME_INDEX, index_row, search_names
from strongroom.content.tenants.memberships import Memberships
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import Database
from strongroom.foundation.database.key_ranges import KeyRange
from strongroom.foundation.database.range_work import OnRows, RangePages
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Row
from strongroom.foundation.database.text_reindexing import (
    BATCH,
    IndexedPage,
    IndexedRows,
    TextReindexing,
)

# Roots of tenants have no name.
_NODES: Final = select(func.count()).where(nodes.c.id != nodes.c.tenant_id).scalar_subquery()
_NAMES: Final = select(func.count()).select_from(search_names).scalar_subquery()
_COUNT: Final = Statement(select(_NODES, _NODES - _NAMES), tuple)
_NEXT: Final = RangePages(
    nodes.c.id, select(nodes).where(nodes.c.id != nodes.c.tenant_id), BATCH, NODE.make
)
_LOCKED: Final = Statement(
    select(nodes)
    .where(nodes.c.id.in_(bindparam("node_ids", expanding=True)))
    .order_by(nodes.c.id)
    .with_for_update(),
    NODE,
)
_SET_SORT_KEY: Final = Statement(
    update(nodes).where(nodes.c.id == bindparam("of_id")).values(sort_key=bindparam("key"))
)


class NameReindexing:
    """Corrects the index of names, sort keys, and the values of nodes that grants repeat.

    :class:`OrderRecount` has to follow, because runs begin at sort keys.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        rows = IndexedRows(nodes.c.id, _next_page, _lock)
        self.task: Final = TextReindexing("files.reindex", database, NAME_INDEX, rows)

    def count(self) -> tuple[int, int]:
        """Return the number of nodes, and how many of them are not in the index."""
        with self._database.read() as connection:
            total, missing = _COUNT.all(connection)[0]
        return total, missing

    def run(self, on_rows: OnRows = lambda _: None) -> int:
        """Correct the index, and return the number of names that were missing or wrong in it."""
        return self.task.run(on_rows)


def _next_page(connection: Connection, key_range: KeyRange) -> IndexedPage:
    page = _NEXT.all(connection, key_range)
    keys = [node.id for node in page]
    wrong = [node.id for node in page if node.sort_key != sort_key(node.name)]
    if keys:
        wrong += find_wrong_copies(connection, keys[0], keys[-1])
    return IndexedPage(keys, [index_row(node) for node in page], wrong)


def _lock(connection: Connection, node_ids: Sequence[str]) -> Sequence[Row]:
    locked = _LOCKED.all(connection, {"node_ids": node_ids})
    keys = [
        {"of_id": node.id, "key": key}
        for node in locked
        for key in [sort_key(node.name)]
        if node.sort_key != key
    ]
    if keys:
        _SET_SORT_KEY.execute(connection, keys)
    correct_copies(connection, [node.id for node in locked])
    return [index_row(node) for node in locked]


@dataclass(slots=True, eq=False, repr=False)
class OrderRecount:
    """Counts the children of large folders again, in the orders of lists other than by name."""

    _database: Database
    _memberships: Memberships

    def run(self) -> int:
        """Count again, and return the number of folders. Each folder is a transaction of its own."""
        with self._database.read() as connection:
            folders = order_counts.large_folders(connection)
        for folder_id, tenant_id in folders:
            with self._database.write() as connection:
                self._memberships.lock_tenant(connection, tenant_id)
                order_counts.build(connection, folder_id, child_counts.SPLIT_ABOVE // 2)
        return len(folders)
