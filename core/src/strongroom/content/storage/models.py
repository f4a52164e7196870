"""The rows of blobs, and the tables that refer to them."""

import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    String,
    Table,
    UniqueConstraint,
    and_,
    exists,
    insert,
    select,
    true,
)

from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper, get_columns
from strongroom.foundation.database.statements import Statement, dynamic

_KEY: Final = re.compile(r"([0-9a-f]{2})/\1[0-9a-f]{30}")


def new_key() -> str:
    """Return an unguessable key with a folder prefix, valid on every store.

    There are only 256 folders, so a store that creates them durably soon has all of them. Few folders
    are fast enough, because modern file systems look up a name among 100,000 as fast as among ten.
    """
    name = secrets.token_hex(16)
    return f"{name[:2]}/{name}"


def is_key(text: str) -> bool:
    """Return whether an object's key has the format of :func:`new_key`."""
    return _KEY.fullmatch(text) is not None


class BlobState(StrEnum):
    """The state of a blob. Its row is inserted before its object is written, and deleted after it."""

    PENDING = "pending"
    STORED = "stored"
    DISCARDED = "discarded"


@dataclass(frozen=True, slots=True)
class Blob:
    """A stored blob. ``size`` is in bytes, ``checksum`` is SHA-256 in hexadecimal digits."""

    key: str
    storage: str
    size: int
    checksum: str
    crc32: int


@dataclass(frozen=True, slots=True)
class BlobRow:
    """A row of :data:`blobs`. Only stored blobs have a size and checksums."""

    key: str
    storage: str
    object_key: str
    state: str
    size: int | None
    checksum: str | None
    crc32: int | None
    created_at: int
    removable_at: int | None


class BlobLocation(NamedTuple):
    """The location of a blob: the name of a storage and the key of an object in it."""

    storage: str
    object_key: str


@dataclass(frozen=True, slots=True)
class Released:
    """A blob without references, and the location of its object."""

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
"""Every object that a crash leaves in a store has a row here that is not ``stored``, for collection.

Other tables refer to a blob by ``key``, which never changes. ``object_key`` is the key of its object; it
equals ``key`` until a migration moves the blob. A discarded object is not deleted before
``removable_at``, if that is set.
"""

BLOB_ROW: Final = RowMapper(BlobRow, blobs)
ADD_BLOB: Final = Statement(insert(blobs))

LOCATION: Final = get_columns(BlobLocation, blobs)
RELEASED: Final = (blobs.c.key, *LOCATION)
"""The columns of :func:`released`."""


def released(row: Sequence[Any]) -> Released:
    """Make a record of the columns :data:`RELEASED`."""
    key, storage, object_key = row
    return Released(key, BlobLocation(storage, object_key))


deletion_leases: Final = Table(
    "blob_holds",
    metadata,
    Column("id", Id, primary_key=True),
    Column("expires_at", Timestamp, nullable=False),
)
"""Deletion leases: while an unexpired row exists, no objects are deleted."""


def referring_columns() -> list[Column[Any]]:
    """Return the columns whose foreign key keeps a blob.

    A feature needs no registration: its foreign key is found once its models are imported. A row that
    is deleted with its blob (ON DELETE CASCADE) does not keep it.
    """
    return [
        column
        for table in metadata.sorted_tables
        for column in table.columns
        for key in column.foreign_keys
        if key.column is blobs.c.key and key.ondelete != "CASCADE"
    ]


def is_unreferenced() -> ColumnElement[bool]:
    """Return the condition that nothing refers to a row of :data:`blobs`."""
    return and_(true(), *(~exists().where(column == blobs.c.key) for column in referring_columns()))


def referrers(connection: Connection, key: str) -> Sequence[str]:
    """Return the rows that refer to a blob, each as its table name and primary key."""
    return [place for column in referring_columns() for place in _places(connection, column, key)]


def _places(connection: Connection, column: Column[Any], key: str) -> Iterator[str]:
    query = select(*column.table.primary_key.columns).where(column == key)
    for row in dynamic(query).all(connection):
        yield " ".join([column.table.name, *map(str, row)])
