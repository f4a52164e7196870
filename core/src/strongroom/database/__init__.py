"""The database: one engine, explicit transactions, and migrations from the first table on."""

from strongroom.database.engine import Database
from strongroom.database.metadata import Name, Timestamp, metadata

__all__ = ["Database", "Name", "Timestamp", "metadata"]
