"""Deletes what has had its time, a batch at a time, beside servers that run."""

from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, delete, select

from strongroom.database.engine import Database

BATCH: Final = 1000


def prune(database: Database, key: Column[Any], old: ColumnElement[bool], batch: int = BATCH) -> int:
    """Delete the rows of a table that are old, and return how many went.

    Each batch is a transaction, so that whoever wants to write meanwhile waits for no more than one.

    Args:
        database: where the table is.
        key: the column that names a row.
        old: which rows go.
        batch: how many go at once.
    """
    removed = 0
    while True:
        with database.write() as connection:
            count = prune_some(connection, key, old, batch)
        removed += count
        if count < batch:
            return removed


def prune_some(connection: Connection, key: Column[Any], old: ColumnElement[bool], limit: int) -> int:
    """Delete some rows that are old within a transaction, but for those that others work with."""
    chosen = select(key).where(old).limit(limit).with_for_update(skip_locked=True)
    keys = connection.execute(chosen).scalars().all()
    if keys:
        connection.execute(delete(key.table).where(key.in_(keys)))
    return len(keys)
