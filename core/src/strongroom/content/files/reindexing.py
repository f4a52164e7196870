"""Repairs the index of names, the order of top-level lists and the counts of large folders.

Servers can use them meanwhile.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, literal_column, select, text

from strongroom.content.nodes import child_counts, name_index, order_counts
from strongroom.content.nodes.grant_copies import correct_copies
from strongroom.content.nodes.models import NODE, Node, nodes
from strongroom.content.nodes.name_index import (
    fts_row,
    grams_of,
    indexed_until,
    int_array,
    search_names,
)
from strongroom.content.nodes.names import fold_name
from strongroom.content.tenants.memberships import Memberships
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement

_BATCH: Final = 500

# Roots of tenants have no name.
_NODES: Final = select(func.count()).where(nodes.c.id != nodes.c.tenant_id).scalar_subquery()
_NAMES: Final = select(func.count()).select_from(search_names).scalar_subquery()
_COUNT: Final = Statement(select(_NODES, _NODES - _NAMES), tuple)
# Locked, so that no node is renamed or removed between the reading and the writing of its name.
_NEXT: Final = Statement(
    select(nodes)
    .where(nodes.c.id > bindparam("after"), nodes.c.id != nodes.c.tenant_id)
    .order_by(nodes.c.id)
    .limit(literal_column(str(_BATCH)))
    .with_for_update(),
    NODE,
)


def _indexed(dialect: str) -> Any:
    columns = select(search_names.c.node_id, search_names.c.tenant_id, search_names.c.folded)
    grams: ColumnElement[Any] = literal_column("NULL" if dialect == "sqlite" else "grams")
    return columns.add_columns(grams).where(
        search_names.c.node_id.in_(bindparam("node_ids", expanding=True))
    )


_INDEXED: Final = Statement(_indexed, tuple)

_DROP_NEW: Final = Statement(text("DROP TABLE IF EXISTS name_index_new"))
_CREATE_NEW: Final = Statement(
    text(
        "CREATE VIRTUAL TABLE name_index_new USING fts5 "
        "(grams, content='', detail=none, columnsize=0, tokenize='ascii')"
    )
)
_FILL_NEW: Final = Statement(text("INSERT INTO name_index_new (rowid, grams) VALUES (:number, :grams)"))
_DROP_OLD: Final = Statement(text("DROP TABLE name_index"))
_RENAME_NEW: Final = Statement(text("ALTER TABLE name_index_new RENAME TO name_index"))
_NEXT_NAMES: Final = Statement(
    select(search_names.c.number, search_names.c.tenant_id, search_names.c.folded)
    .where(search_names.c.number > bindparam("after"), search_names.c.number <= indexed_until())
    .order_by(search_names.c.number)
    .limit(literal_column(str(_BATCH))),
    tuple,
)

Progress = Callable[[int], object]
"""Called with the number of processed rows."""


class NameReindexing:
    """Compares the names of all nodes with the index, and corrects it, and the values in their grants.

    Each batch is a short transaction, so servers can write in between. Searches work meanwhile.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def count(self) -> tuple[int, int]:
        """Return the number of nodes, and how many of them are not in the index."""
        with self._database.read() as connection:
            total, missing = _COUNT.all(connection)[0]
        return total, missing

    def run(self, progress: Progress = lambda _: None) -> int:
        """Correct the index, and return the number of names that were missing or wrong in it.

        On SQLite the grams of deleted nodes and of earlier names are removed, too.
        """
        repaired, after = 0, ""
        while True:
            # Non-durable: after a power failure, the command finds the lost names again.
            with self._database.write(durable=False) as connection:
                batch = _NEXT.all(connection, {"after": after})
                repaired += _repair(connection, batch)
            progress(len(batch))
            if len(batch) < _BATCH:
                break
            after = batch[-1].id
        if self._database.engine.dialect.name == "sqlite":
            self._rebuild()
        return repaired

    def _rebuild(self) -> None:
        """Build the index of SQLite in another table, which then takes the place of the first one."""
        with self._database.write(durable=False) as connection:
            # An interrupted run has left it.
            _DROP_NEW.execute(connection)
            _CREATE_NEW.execute(connection)
        after, is_whole = 0, False
        while not is_whole:
            # Names of new nodes, and new names, have higher numbers, so none is left out. The last batch
            # and the exchange are one transaction.
            with self._database.write(durable=False) as connection:
                batch = _NEXT_NAMES.all(connection, {"after": after, "block": name_index.BLOCK})
                if batch:
                    _FILL_NEW.execute(connection, [fts_row(*row) for row in batch])
                    after = batch[-1][0]
                is_whole = len(batch) < _BATCH
                if is_whole:
                    _DROP_OLD.execute(connection)
                    _RENAME_NEW.execute(connection)


def _repair(connection: Connection, batch: Sequence[Node]) -> int:
    ids = [node.id for node in batch]
    rows = _INDEXED.all(connection, {"node_ids": ids}) if ids else []
    indexed = {row[0]: row for row in rows}
    wrong = [node for node in batch if not _is_right(node, indexed.get(node.id))]
    for node in wrong:
        name_index.rename(connection, node)
    correct_copies(connection, ids)
    return len(wrong)


def _is_right(node: Node, row: Sequence[Any] | None) -> bool:
    folded = fold_name(node.name)
    if row is None or (row[1], row[2]) != (node.tenant_id, folded):
        return False
    return row[3] is None or row[3] == int_array(grams_of(node.tenant_id, folded))


class OrderRecount:
    """Counts the children of large folders again, in the orders of lists other than by name."""

    def __init__(self, database: Database, memberships: Memberships) -> None:
        self._database = database
        self._memberships = memberships

    def run(self) -> int:
        """Count again, and return the number of folders. Each folder is a transaction of its own."""
        with self._database.read() as connection:
            folders = order_counts.large_folders(connection)
        for folder_id, tenant_id in folders:
            with self._database.write() as connection:
                self._memberships.lock_tenant(connection, tenant_id)
                order_counts.build(connection, folder_id, child_counts.SPLIT_ABOVE // 2)
        return len(folders)
