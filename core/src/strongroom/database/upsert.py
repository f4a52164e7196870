"""INSERT ... ON CONFLICT for both databases; SQLAlchemy has a separate construct per dialect."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import Connection, Executable, Table
from sqlalchemy.dialects import sqlite

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

AnyInsert: TypeAlias = "postgresql.Insert | sqlite.Insert"


def insert(connection: Connection, table: Table) -> AnyInsert:
    """Return an INSERT that has ``on_conflict_do_update`` and ``on_conflict_do_nothing``."""
    return _insert_of(connection.dialect.name, table)


def for_each_dialect(table: Table, finish: Callable[[Any], Executable]) -> Mapping[str, Executable]:
    """Return the INSERT of each dialect by its name, for a :class:`Statement` that is built once.

    ``finish`` receives the dialect's INSERT and adds its values and its ON CONFLICT clause.
    """
    return _ForEachDialect(lambda dialect: finish(_insert_of(dialect, table)))


class _ForEachDialect(dict[str, Executable]):
    """Creates the statement of a dialect when it is first used."""

    def __init__(self, create: Callable[[str], Executable]) -> None:
        super().__init__()
        self._create = create

    def __missing__(self, dialect: str) -> Executable:
        statement = self[dialect] = self._create(dialect)
        return statement


def _insert_of(dialect: str, table: Table) -> AnyInsert:
    if dialect != "postgresql":
        return sqlite.insert(table)
    # Imported here, because importing the dialects of a database that is not used takes time.
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table)
