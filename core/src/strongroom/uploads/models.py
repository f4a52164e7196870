"""Resumable uploads under way, and the parts that have arrived."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, String, Table, Text

from strongroom.database.metadata import Id, Name, Timestamp, metadata


@dataclass(frozen=True, slots=True)
class Upload:
    """A row of :data:`uploads`.

    Args:
        id: the upload.
        tenant_id: whose space it goes to.
        user_id: who began it, and alone may go on.
        parent_id: the folder it goes into; ``None`` at the top.
        name: what the file is to be called.
        on_conflict: what to do when the name is taken.
        metadata: what the client said of it, word for word.
        size: how many bytes it will have.
        received: how many are durably stored.
        file_id: the file it has become.
        lease: who is writing to it; no other may.
        lease_until: when that writer is taken for dead.
        expires_at: when it is given up.
    """

    id: str
    tenant_id: str
    user_id: str
    parent_id: str | None
    name: str
    on_conflict: str
    metadata: str
    size: int
    received: int
    file_id: str | None
    lease: str | None
    lease_until: int
    expires_at: int

    @property
    def is_finished(self) -> bool:
        """Whether it has become a file."""
        return self.file_id is not None


uploads: Final = Table(
    "uploads",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id"), nullable=False),
    Column("user_id", Id, ForeignKey("users.id"), nullable=False),
    Column("parent_id", Id),
    Column("name", Name, nullable=False),
    Column("on_conflict", String(16), nullable=False),
    Column("metadata", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("received", BigInteger, nullable=False),
    Column("file_id", Id),
    Column("lease", Id),
    Column("lease_until", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "expires_at"),
    Index(None, "tenant_id"),
    Index(None, "user_id"),
)
"""Neither folder nor file is a foreign key: both may be deleted meanwhile."""

upload_parts: Final = Table(
    "upload_parts",
    metadata,
    Column("upload_id", Id, ForeignKey("uploads.id"), primary_key=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("blob_key", String(64), ForeignKey("blobs.key"), nullable=False),
    Column("size", BigInteger, nullable=False),
    Index(None, "blob_key"),
)
"""Each part is a blob that counts: it is acknowledged, and gone only with the upload."""
