"""Blobs: bytes in a storage. Files of any kind refer to them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import BigInteger, Column, Index, String, Table

from strongroom.database.metadata import Timestamp, metadata


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


blobs: Final = Table(
    "blobs",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("storage", String(64), nullable=False),
    Column("state", String(16), nullable=False),
    Column("size", BigInteger),
    Column("checksum", String(64)),
    Column("crc32", BigInteger),
    Column("created_at", Timestamp, nullable=False),
    Index(None, "state", "created_at"),
    Index(None, "storage", "key"),
)
"""Whatever a crash leaves in a store has a row here that is not ``stored``, and is collected by it."""
