"""INSERT ... ON CONFLICT, which both databases have and SQLAlchemy spells by dialect."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Executable, Table

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

    AnyInsert = postgresql.Insert | sqlite.Insert


def insert(connection: Connection, table: Table) -> "AnyInsert":
    """Return an INSERT that has ``on_conflict_do_update`` and ``on_conflict_do_nothing``."""
    return _insert(connection.dialect.name, table)


def for_each_dialect(table: Table, finish: Callable[[Any], Executable]) -> Callable[[str], Executable]:
    """Return what finishes an INSERT for a dialect, given its name."""
    return lambda dialect: finish(_insert(dialect, table))


def _insert(dialect: str, table: Table) -> "AnyInsert":
    # Imported late, for who has the one does not need the other, which takes a while.
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)
