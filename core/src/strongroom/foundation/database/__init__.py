"""The database: connections, explicit transactions and migrations."""

from strongroom.foundation.database.engine import Database, long_statements
from strongroom.foundation.database.metadata import Name, Timestamp, metadata

__all__ = ["Database", "Name", "Timestamp", "long_statements", "metadata"]
