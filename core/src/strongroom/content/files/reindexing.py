"""Repairs the index of names, sort keys, the order of top-level lists and the counts of large folders.

Servers can use them meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, func, literal_column, select, update

from strongroom.content.nodes import child_counts, order_counts
from strongroom.content.nodes.grant_copies import correct_copies
from strongroom.content.nodes.models import NODE, nodes
from strongroom.content.nodes.name_index import NAME_INDEX, index_row, search_names
from strongroom.content.tenants.memberships import Memberships
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Row
from strongroom.foundation.database.text_reindexing import BATCH, Progress, TextReindexing

# Roots of tenants have no name.
_NODES: Final = select(func.count()).where(nodes.c.id != nodes.c.tenant_id).scalar_subquery()
_NAMES: Final = select(func.count()).select_from(search_names).scalar_subquery()
_COUNT: Final = Statement(select(_NODES, _NODES - _NAMES), tuple)
_NEXT: Final = Statement(
    select(nodes)
    .where(nodes.c.id > bindparam("after"), nodes.c.id != nodes.c.tenant_id)
    .order_by(nodes.c.id)
    .limit(literal_column(str(BATCH)))
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
        self._reindexing = TextReindexing(database, NAME_INDEX, _next_rows)

    def count(self) -> tuple[int, int]:
        """Return the number of nodes, and how many of them are not in the index."""
        with self._database.read() as connection:
            total, missing = _COUNT.all(connection)[0]
        return total, missing

    def run(self, progress: Progress = lambda _: None) -> int:
        """Correct the index, and return the number of names that were missing or wrong in it."""
        return self._reindexing.run(progress)


def _next_rows(connection: Connection, after: str) -> Sequence[Row]:
    batch = _NEXT.all(connection, {"after": after})
    keys = [
        {"of_id": node.id, "key": key}
        for node in batch
        for key in [sort_key(node.name)]
        if node.sort_key != key
    ]
    if keys:
        _SET_SORT_KEY.execute(connection, keys)
    correct_copies(connection, [node.id for node in batch])
    return [index_row(node) for node in batch]


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
