"""Direct uploads that were announced, and the files that they have become."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, String, Table

from strongroom.database.metadata import Id, Timestamp, metadata


@dataclass(frozen=True, slots=True)
class DirectUpload:
    """A row of :data:`direct_uploads`.

    Args:
        key: the blob that the client sends.
        tenant_id: the tenant whose space is reserved.
        user_id: the user who announced it.
        size: how many bytes are reserved, until it is completed or ends.
        file_id: the file it has become.
        expires_at: when it ends; a completed one is remembered until then.
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
"""Neither blob nor file is a foreign key: both may be deleted meanwhile."""
