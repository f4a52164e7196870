"""The table of access keys."""

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import JSON, Column, ForeignKey, Index, SmallInteger, String, Table

from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A row of :data:`access_keys`. Times are in milliseconds since the Unix epoch."""

    id: str
    user_id: str
    name: str
    secret_hash: str = field(repr=False)
    previous_hash: str | None = field(repr=False)
    previous_until: int | None
    scopes: str
    max_permission: int
    tenant_id: str | None
    folder_id: str | None
    addresses: list[str]
    created_by: str
    created_at: int
    expires_at: int
    last_used_at: int | None
    last_used_from: str | None
    warned_at: int | None


access_keys: Final = Table(
    "access_keys",
    metadata,
    Column("id", String(8), primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("name", Name, nullable=False),
    Column("secret_hash", String(64), nullable=False),
    Column("previous_hash", String(64)),
    Column("previous_until", Timestamp),
    Column("scopes", String(255), nullable=False),
    Column("max_permission", SmallInteger, nullable=False),
    Column("tenant_id", Id),
    Column("folder_id", Id),
    Column("addresses", JSON, nullable=False),
    Column("created_by", Id, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("last_used_at", Timestamp),
    Column("last_used_from", String(64)),
    Column("warned_at", Timestamp),
    Index(None, "user_id", "created_at", "id"),
    Index(None, "expires_at"),
)
"""The hashes are SHA-256 of the secret, which is random, so a slow hash would add nothing. ``scopes`` is
a list separated by spaces; ``max_permission`` is the permission on files that they allow. Tenant and
folder are no foreign keys: a key whose folder was deleted must keep its limit, and so reach nothing."""

ACCESS_KEY: Final = RowMapper(AccessKey, access_keys)
