"""Tables of business files and of scaled variants of pictures."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, String, Table

from strongroom.foundation.database.metadata import Id, Timestamp, metadata


@dataclass(frozen=True, slots=True)
class BusinessFile:
    """A row of :data:`business_files`. ``size`` is in bytes; only pictures have a width and a height.

    ``scan`` is the :class:`~strongroom.content.scanning.states.ScanState` of the content, if it has one.
    """

    name: str
    profile: str
    blob_key: str
    owner_id: str
    content_type: str
    size: int
    width: int | None
    height: int | None
    created_at: int
    scan: str | None = None


business_files: Final = Table(
    "business_files",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("profile", String(32), nullable=False),
    Column("blob_key", String(64), ForeignKey("blobs.key"), nullable=False),
    Column("owner_id", Id, ForeignKey("users.id"), nullable=False),
    Column("content_type", String(255), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("width", Integer),
    Column("height", Integer),
    Column("created_at", Timestamp, nullable=False),
    Column("scan", String(16)),
    Index(None, "owner_id", "created_at"),
    Index(None, "blob_key"),
)

picture_variants: Final = Table(
    "picture_variants",
    metadata,
    Column("name", String(80), ForeignKey("business_files.name", ondelete="CASCADE"), primary_key=True),
    Column("width", Integer, primary_key=True),
    Column("blob_key", String(64), ForeignKey("blobs.key"), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Index(None, "blob_key"),
)
