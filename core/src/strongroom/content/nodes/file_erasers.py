"""Removes what features and plugins store about files, when the files are removed permanently."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Final

from sqlalchemy import (
    Column,
    Connection,
    Index,
    Row,
    String,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    select,
)

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.ids import new_id
from strongroom.plugin_api.erasers import RemovedFiles
from strongroom.web.parts import FileErasure

logger = logging.getLogger(__name__)

failed_erasures: Final = Table(
    "failed_erasures",
    metadata,
    Column("id", Id, primary_key=True),
    Column("plugin", String(64), nullable=False),
    Column("tenant_id", Id, nullable=False),
    # Separated by spaces.
    Column("node_ids", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Index("ix_failed_erasures_plugin_id", "plugin", "id"),
)
"""Removed files whose rows in a plugin's tables remain, because the plugin failed to remove them."""

IDS_AT_ONCE: Final = 500
"""Number of ids in one call of an eraser."""

_ROWS: Final = failed_erasures.c
_KEEP: Final = Statement(insert(failed_erasures))
_NEXT: Final = Statement(
    select(failed_erasures)
    .where(_ROWS.plugin == bindparam("of_plugin"), _ROWS.id > bindparam("after"))
    .order_by(_ROWS.id)
    .limit(1)
)
_FORGET: Final = Statement(delete(failed_erasures).where(_ROWS.id == bindparam("of_id")))

NamedErasure = tuple[str, FileErasure]
"""An eraser, with the name of its plugin."""


class ErasuresFailed(Exception):
    """Plugins failed again to remove their rows about removed files. The next prune calls them again."""

    def __init__(self, plugins: Sequence[str]) -> None:
        super().__init__(f"{', '.join(plugins)} cannot remove rows about removed files; see the log")


class FileErasers:
    """Calls the erasers of files, each in a savepoint of the transaction that removes the files.

    An eraser that fails must keep neither the files nor the rows of other plugins: its changes are
    undone, and the ids are stored in the same transaction until :meth:`retry` succeeds.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._erasers: Iterable[NamedErasure] = ()

    def erase_by(self, erasers: Iterable[NamedErasure]) -> None:
        """Set the erasers. They are read at each removal."""
        self._erasers = erasers

    def erase(self, connection: Connection, tenant_id: str, node_ids: Sequence[str]) -> None:
        """Remove what is stored about nodes that the transaction removes."""
        for plugin, erase in self._erasers:
            for start in range(0, len(node_ids), IDS_AT_ONCE):
                removed = RemovedFiles(tenant_id, node_ids[start : start + IDS_AT_ONCE])
                try:
                    with connection.begin_nested():
                        erase(connection, removed)
                except Exception as error:
                    logger.exception("%s; repeated by the job core.prune", error)  # noqa: TRY401  names the plugin
                    self._keep(connection, plugin, removed)

    def retry(self) -> int:
        """Call the erasers again that failed, and return the number of nodes that are erased now.

        Raises:
            ErasuresFailed: some failed again; the others were called.
        """
        by_plugin: dict[str, list[FileErasure]] = {}
        for plugin, erase in self._erasers:
            by_plugin.setdefault(plugin, []).append(erase)
        erased, failed = 0, []
        for plugin, erasers in by_plugin.items():
            number, failures = self._retry(plugin, erasers)
            erased += number
            if failures:
                logger.error("%s failed to erase %d times; repeated by the next prune", plugin, failures)
                failed.append(plugin)
        if failed:
            raise ErasuresFailed(failed)
        return erased

    def _retry(self, plugin: str, erasers: Sequence[FileErasure]) -> tuple[int, int]:
        """Return the number of nodes that a plugin has erased now, and of its failures.

        A failure delays no other removal, because it may be permanent. Only the first is logged.
        """
        erased, failures, after = 0, 0, ""
        while (row := self._next(plugin, after)) is not None:
            after = row.id
            try:
                erased += self._erase_again(row, erasers)
            except Exception as error:
                failures += 1
                if failures == 1:
                    logger.exception("%s", error)  # noqa: TRY401  names the plugin
        return erased, failures

    def _next(self, plugin: str, after: str) -> Row[Any] | None:
        with self._database.read() as connection:
            return _NEXT.first(connection, {"of_plugin": plugin, "after": after})

    def _erase_again(self, row: Row[Any], erasers: Sequence[FileErasure]) -> int:
        removed = RemovedFiles(row.tenant_id, row.node_ids.split())
        with self._database.write() as connection:
            for erase in erasers:
                erase(connection, removed)
            _FORGET.execute(connection, {"of_id": row.id})
        return len(removed.ids)

    def _keep(self, connection: Connection, plugin: str, removed: RemovedFiles) -> None:
        row = {
            "id": new_id(),
            "plugin": plugin,
            "tenant_id": removed.tenant_id,
            "node_ids": " ".join(removed.ids),
            "created_at": self._clock.now(),
        }
        _KEEP.execute(connection, row)
