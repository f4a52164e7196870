"""Users and their credentials."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, Text, UniqueConstraint

from strongroom.foundation.database.metadata import WHERE, Id, Name, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.errors import UserSuspended

MAX_LOCALE: Final = 35


class UserType(StrEnum):
    """The server-wide role of a user."""

    USER = "USER"
    ADMIN = "ADMIN"
    SERVICE = "SERVICE"
    """The account of a machine, which has no login: only access keys."""


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

    def require_active(self) -> None:
        """Require that the user may act, by a login or through a plugin.

        Raises:
            UserSuspended: the user is suspended or deleted.
        """
        if self.status != UserStatus.ACTIVE:
            raise UserSuspended


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


USER: Final = RowMapper(User, users)

EMAIL: Final = "email"
MOBILE: Final = "mobile"
USERNAME: Final = "username"
SINGLE_KINDS: Final = (EMAIL, MOBILE, USERNAME)
"""Kinds with at most one credential per user."""


@dataclass(frozen=True, slots=True)
class BoundCredential:
    """A row of :data:`credentials`."""

    id: str
    user_id: str
    kind: str
    value: str
    created_at: int


credentials: Final = Table(
    "credentials",
    metadata,
    Column("id", Id, primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("value", Name, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("kind", "value"),
    Index(None, "user_id"),
    # A user has one e-mail address, one mobile number and one username; other kinds may repeat.
    Index(
        "uq_credentials_user_id_kind",
        "user_id",
        "kind",
        unique=True,
        info={WHERE: "kind IN ('email', 'mobile', 'username')"},
    ),
)

OWN_SCHEME: Final = "bcrypt_hmac"
"""The scheme of new passwords."""

passwords: Final = Table(
    "passwords",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("hash", Text, nullable=False),
    Column("changed_at", Timestamp, nullable=False),
    Column("scheme", String(32), nullable=False, server_default=OWN_SCHEME),
    Column("cost", String(64), nullable=False, server_default=""),
    Index(None, "scheme", "cost", info={WHERE: f"scheme <> '{OWN_SCHEME}'"}),
)
"""``scheme`` names the :class:`PasswordScheme` of an imported hash, and ``cost`` has its parameters. The
first successful login replaces the hash by one of :data:`OWN_SCHEME`, whose ``cost`` is empty."""


@dataclass(frozen=True, slots=True)
class FactorRow:
    """A row of :data:`second_factors`. Times are in milliseconds since the Unix epoch."""

    id: str
    user_id: str
    factor: str
    is_backup: bool
    name: str
    sealed_data: str
    revision: int
    created_at: int
    last_used_at: int | None
    handle: str | None


second_factors: Final = Table(
    "second_factors",
    metadata,
    Column("id", Id, primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("factor", String(32), nullable=False),
    Column("is_backup", Boolean, nullable=False),
    Column("name", Name, nullable=False),
    Column("sealed_data", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("last_used_at", Timestamp),
    Column("handle", String(64)),
    Index(None, "user_id"),
    Index(None, "handle", unique=True),
)
"""A proof replaces ``sealed_data`` only if ``revision`` is the one that it was checked against, and
increments it, so each proof counts once. A backup exists only together with another factor. ``handle``
is a keyed hash of the handle by which the answers of a passwordless factor name the enrolment."""

FACTOR: Final = RowMapper(FactorRow, second_factors)

factor_grace: Final = Table(
    "factor_grace",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("began_at", Timestamp, nullable=False),
)
"""The first login without a second factor of users who must have one. The row stays when a factor is
enrolled, removed or reset, so that no user gets the grace period twice."""
