"""The table of the service accounts of the server."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Column, ForeignKey, Index, Table

from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper


@dataclass(frozen=True, slots=True)
class ServerAccountRow:
    """A row of :data:`server_accounts`."""

    user_id: str
    created_by: str
    created_at: int


server_accounts: Final = Table(
    "server_accounts",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("created_by", Id, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Index(None, "created_at", "user_id"),
)
"""Users of the type SERVICE that belong to no tenant. A deletion of the user removes its row."""

SERVER_ACCOUNT: Final = RowMapper(ServerAccountRow, server_accounts)


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A service account with its name, of the server or of a tenant."""

    id: str
    name: str
    created_by: str
    created_at: int
