"""INSERT ... ON CONFLICT for both databases; SQLAlchemy has a separate construct per dialect."""

from collections.abc import Callable, Mapping
from typing import Any

from sqlalchemy import Connection, Executable, Table
from sqlalchemy.dialects import postgresql, sqlite

AnyInsert = postgresql.Insert | sqlite.Insert


def insert(connection: Connection, table: Table) -> AnyInsert:
    """Return an INSERT that has ``on_conflict_do_update`` and ``on_conflict_do_nothing``."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


def for_each_dialect(table: Table, finish: Callable[[Any], Executable]) -> Mapping[str, Executable]:
    """Return the INSERT of each dialect by its name, for a :class:`Statement` that is built once.

    ``finish`` receives the dialect's INSERT and adds its values and its ON CONFLICT clause.
    """
    return {
        "postgresql": finish(postgresql.insert(table)),
        "sqlite": finish(sqlite.insert(table)),
    }
