"""Users."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Column, Index, String, Table

from strongroom.database.metadata import Id, Name, Timestamp, metadata


class UserType(StrEnum):
    """What a user may do beyond what is granted to everybody."""

    USER = "USER"
    ADMIN = "ADMIN"


class UserStatus(StrEnum):
    """Whether a user may log in."""

    ACTIVE = "active"
    SUSPENDED = "suspended"


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
    Index(None, "created_at", "id"),
)
