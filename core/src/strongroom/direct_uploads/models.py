"""Table of open and completed direct uploads."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, String, Table

from strongroom.database.metadata import Id, Timestamp, metadata


@dataclass(frozen=True, slots=True)
class DirectUpload:
    """A row of :data:`direct_uploads`.

    Args:
        key: key of the blob that the client uploads.
        tenant_id: the tenant whose quota is reserved.
        user_id: the user who started it.
        size: reserved bytes, until it is completed or expires.
        file_id: the file that was created from it.
        expires_at: when it expires; a completed upload is stored until then, so it can be repeated.
    """

    key: str
    tenant_id: str
    user_id: str
    size: int
    file_id: str | None
    expires_at: int


direct_uploads: Final = Table(
    "direct_uploads",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("file_id", Id),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "tenant_id"),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)
"""Neither blob nor file is a foreign key, because both may be deleted before the row expires."""
