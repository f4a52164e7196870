"""The table of scans: the last result for each scanned blob, and when it is to be scanned next."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table

from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper


@dataclass(frozen=True, slots=True)
class Scan:
    """A row of :data:`scans`.

    Args:
        id: identifies the scan in the quarantine.
        state: the result of the last scan; ``pending`` before the first one.
        scanner: the scanner that decided.
        reason: the signature, or why the content could not be scanned.
        created_at: when the content was received.
        scanned_at: when the last scan ended.
        due_at: when the content is to be scanned; ``None`` if no scan is planned. A claim sets it to
            the end of the claim, so that a scan whose process dies is repeated.
        attempts: how often the planned scan began.
        lease: identifies the claim.
        released_at: when an administrator released the content from quarantine.
    """

    id: str
    blob_key: str
    state: str
    scanner: str
    engine: str
    database_version: str
    reason: str
    created_at: int
    scanned_at: int | None
    due_at: int | None
    attempts: int
    lease: str | None
    released_at: int | None


scans: Final = Table(
    "scans",
    metadata,
    Column("id", Id, primary_key=True),
    # ON DELETE CASCADE: this reference does not keep the blob.
    Column("blob_key", String(64), ForeignKey("blobs.key", ondelete="CASCADE"), nullable=False),
    Column("state", String(16), nullable=False),
    Column("scanner", String(64), nullable=False),
    Column("engine", String(64), nullable=False),
    Column("database_version", String(64), nullable=False),
    Column("reason", String(255), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("scanned_at", Timestamp),
    Column("due_at", Timestamp),
    Column("attempts", Integer, nullable=False),
    Column("lease", Id),
    Column("released_at", Timestamp),
    Index(None, "blob_key", unique=True),
    Index(None, "due_at"),
    Index(None, "state", "scanned_at"),
    Index(None, "database_version"),
)

SCAN: Final = RowMapper(Scan, scans)
