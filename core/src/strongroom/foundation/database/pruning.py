"""Deletes expired rows in batches, while servers run."""

import itertools
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, delete, select

from strongroom.foundation.database.engine import Database
from strongroom.foundation.database.pace import current_pace
from strongroom.foundation.database.statements import dynamic

BATCH: Final = 1000
PRUNE_EVERY: Final = 32


def prune(database: Database, key: Column[Any], old: ColumnElement[bool], batch: int = BATCH) -> int:
    """Delete all rows that meet a condition, and return how many were deleted.

    Each batch is a transaction, so that other writers wait for one batch at most. They follow each other
    by :func:`current_pace`.

    Args:
        key: the primary key column of the table.
        batch: rows per transaction.

    Raises:
        Unavailable: the database does not respond.
    """
    removed, pace = 0, current_pace()
    while True:
        with database.write() as connection:
            count = prune_some(connection, key, old, batch)
        removed += count
        if not pace.allows_next(count) or count < batch:
            return removed


def prune_some(connection: Connection, key: Column[Any], old: ColumnElement[bool], limit: int) -> int:
    """Delete up to ``limit`` rows that meet a condition, and return how many were deleted.

    Skips rows that other transactions have locked (on PostgreSQL), so it never waits for them.
    """
    chosen = select(key).where(old).limit(limit).with_for_update(skip_locked=True)
    keys = dynamic(chosen).scalars(connection)
    if keys:
        dynamic(delete(key.table).where(key.in_(keys))).execute(connection)
    return len(keys)


class AmortizedPruning:
    """Deletes expired rows in one of :data:`PRUNE_EVERY` transactions that insert rows of a table.

    It deletes up to twice as many as are inserted, so that expired rows do not accumulate on servers
    where ``strongroom prune`` does not run.

    Args:
        key: the primary key column of the table.
        time: the column by whose value a row is old.
    """

    def __init__(self, key: Column[Any], time: Column[int]) -> None:
        self._key = key
        self._time = time
        # next() of a counter is atomic, so threads need no lock.
        self._inserted = itertools.count(1)

    def inserted(self, connection: Connection, before: int) -> None:
        """Count an inserted row, and delete rows whose time is at most ``before`` if it is time to."""
        if next(self._inserted) % PRUNE_EVERY == 0:
            prune_some(connection, self._key, self._time <= before, 2 * PRUNE_EVERY)
