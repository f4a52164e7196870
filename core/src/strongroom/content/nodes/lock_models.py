"""The table of locks of nodes."""

from typing import Final, NamedTuple

from sqlalchemy import Boolean, Column, ForeignKey, Index, String, Table

from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper

MAX_NOTE: Final = 1024
"""The longest note of a lock, in characters."""


class Lock(NamedTuple):
    """A row of :data:`node_locks`. ``id`` is what a request presents to change what is locked."""

    id: str
    node_id: str
    tenant_id: str
    user_id: str
    is_shared: bool
    is_deep: bool
    note: str
    locked_at: int
    expires_at: int


node_locks: Final = Table(
    "node_locks",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), nullable=False),
    Column("tenant_id", Id, nullable=False),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("is_shared", Boolean, nullable=False),
    Column("is_deep", Boolean, nullable=False),
    Column("note", String(MAX_NOTE), nullable=False),
    Column("locked_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "node_id"),
    Index(None, "tenant_id", "expires_at"),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)
"""Write locks (RFC 4918, section 6). A deep lock covers the node and its subtree, another one the node:
its content and name, and of a folder the names in it. A row may remain after its end."""

LOCK: Final = RowMapper(Lock, node_locks)
