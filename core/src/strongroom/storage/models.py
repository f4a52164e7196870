"""Blobs: bytes in a storage. Files of any kind refer to them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import BigInteger, Column, Index, String, Table, UniqueConstraint

from strongroom.database.metadata import Id, Timestamp, metadata


class BlobState(StrEnum):
    """How far a blob has come: rows are written before bytes and removed after them."""

    PENDING = "pending"
    STORED = "stored"
    DISCARDED = "discarded"


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that are stored. ``checksum`` is SHA-256 in hexadecimal digits."""

    key: str
    storage: str
    size: int
    checksum: str
    crc32: int


@dataclass(frozen=True, slots=True)
class BlobLocation:
    """Where bytes lie: a named storage, and the key of an object in it."""

    storage: str
    object_key: str


@dataclass(frozen=True, slots=True)
class Released:
    """A blob that nothing refers to any more, and the place of its bytes."""

    key: str
    place: BlobLocation


blobs: Final = Table(
    "blobs",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("storage", String(64), nullable=False),
    Column("object_key", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("size", BigInteger),
    Column("checksum", String(64)),
    Column("crc32", BigInteger),
    Column("created_at", Timestamp, nullable=False),
    Column("removable_at", Timestamp),
    UniqueConstraint("storage", "object_key"),
    Index(None, "state", "created_at"),
    Index(None, "storage", "state", "key"),
)
"""Whatever a crash leaves in a store has a row here that is not ``stored``, and is collected by it.

What refers to bytes does so by ``key``; the bytes are the object ``object_key`` of a storage, which is
the same until they are moved to another one. Discarded bytes stay until ``removable_at``, if it is set.
"""

blob_holds: Final = Table(
    "blob_holds",
    metadata,
    Column("id", Id, primary_key=True),
    Column("expires_at", Timestamp, nullable=False),
)
"""While a row of these lives, no bytes are removed, whatever becomes of their rows."""
