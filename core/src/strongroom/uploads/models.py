"""Tables of resumable uploads and their parts."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, String, Table, Text

from strongroom.database.metadata import Id, Name, Timestamp, metadata


@dataclass(frozen=True, slots=True)
class Upload:
    """A row of :data:`uploads`.

    Args:
        id: id of the upload.
        tenant_id: the tenant whose quota is reserved.
        user_id: the user who created it; only this user may continue it.
        parent_id: the folder of the file; ``None`` at the top level.
        name: name of the file.
        on_conflict: rule for a taken name.
        metadata: the client's ``Upload-Metadata``, unchanged.
        size: total size in bytes.
        received: number of bytes that are durably stored.
        file_id: the file that was created from it; ``None`` until it is complete.
        lease: id of the lease that a request holds while it writes.
        lease_until: when the lease expires.
        expires_at: when the upload expires.
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
        """Whether the file was created."""
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
"""Neither folder nor file is a foreign key, because both may be deleted before the upload expires."""

upload_parts: Final = Table(
    "upload_parts",
    metadata,
    Column("upload_id", Id, ForeignKey("uploads.id"), primary_key=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("blob_key", String(64), ForeignKey("blobs.key"), nullable=False),
    Column("size", BigInteger, nullable=False),
    Index(None, "blob_key"),
)
"""Each part is a committed blob: it is acknowledged to the client, and removed only with the upload."""
