"""Advisory locks that a transaction holds until it ends."""

from sqlalchemy import ColumnElement, Connection, func, select

from strongroom.database.statements import dynamic


def lock_until_commit(
    connection: Connection, *key: int | ColumnElement[int], shared: bool = False
) -> None:
    """Take an advisory lock of PostgreSQL and hold it until the transaction ends.

    On SQLite a writing transaction holds the only write lock already, so nothing is done.

    Args:
        connection: a writing transaction.
        key: one 64-bit number or two 32-bit numbers. Servers of different versions share a database, so
            a key must never change.
        shared: whether to take the lock in shared mode, which only conflicts with exclusive mode.
    """
    if connection.dialect.name == "postgresql":
        lock = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
        dynamic(select(lock(*key))).execute(connection)
