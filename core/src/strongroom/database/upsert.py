"""INSERT ... ON CONFLICT, which both databases have and SQLAlchemy spells by dialect."""

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert(connection: Connection, table: Table) -> postgresql.Insert | sqlite.Insert:
    """Return an INSERT that has ``on_conflict_do_update`` and ``on_conflict_do_nothing``."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)
