"""Replaced by statements."""

from typing import Any

from sqlalchemy import Connection, Table

from strongroom.database.statements import _insert_of, for_each_dialect

__all__ = ["for_each_dialect", "insert"]


def insert(connection: Connection, table: Table) -> Any:
    """Return an INSERT that has ``on_conflict_do_update`` and ``on_conflict_do_nothing``."""
    return _insert_of(connection.dialect.name, table)
