"""Users."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Column, Index, String, Table

from strongroom.database.metadata import Id, Name, Timestamp, metadata

MAX_LOCALE: Final = 35


class UserType(StrEnum):
    """The server-wide role of a user."""

    USER = "USER"
    ADMIN = "ADMIN"


class UserStatus(StrEnum):
    """Whether a user may log in. Queries for users skip deleted ones."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    DELETED = "deleted"


LIVE_STATUSES: Final = (UserStatus.ACTIVE.value, UserStatus.SUSPENDED.value)


@dataclass(frozen=True, slots=True)
class User:
    """A row of :data:`users`."""

    id: str
    type: str
    status: str
    name: str
    created_at: int
    updated_at: int
    revision: int
    locale: str | None = None
    deleted_at: int | None = None
    erased_at: int | None = None


users: Final = Table(
    "users",
    metadata,
    Column("id", Id, primary_key=True),
    Column("type", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("name", Name, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("revision", Timestamp, nullable=False),
    Column("locale", String(MAX_LOCALE)),
    Column("deleted_at", Timestamp),
    Column("erased_at", Timestamp),
    # Each list is sorted by (created_at, id), so each filter has an index that ends with both.
    Index(None, "created_at", "id"),
    Index(None, "status", "created_at", "id"),
    Index(None, "type", "created_at", "id"),
    Index(None, "deleted_at"),
)
"""The row of a deleted user stays, because files refer to their owner. ``locale`` is a BCP 47 tag."""
