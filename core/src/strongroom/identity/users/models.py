"""Users and their credentials."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)

from strongroom.foundation.database.metadata import WHERE, Id, Name, SortKeyText, Timestamp, metadata
from strongroom.foundation.database.named_rows import NamedRowMapper
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.errors import UserSuspended
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.times import MAX_ZONE

MAX_LOCALE: Final = 35
MAX_EXTERNAL_ID: Final = 255
MAX_REASON: Final = 255


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


_LIVE: Final = "deleted_at IS NULL"


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
    external_id: str | None = None
    suspended_until: int | None = None
    suspension_reason: str | None = None
    last_login_at: int | None = None
    deletion_due_at: int | None = None
    timezone: str | None = None
    sort_key: str = ""

    def is_suspension_over(self, now: int) -> bool:
        """Return whether the user is suspended, and the end of the suspension has come."""
        is_suspended = self.status == UserStatus.SUSPENDED
        return is_suspended and self.suspended_until is not None and self.suspended_until <= now

    def require_active(self) -> None:
        """Require that the user may act, by a login or through a plugin.

        Raises:
            UserSuspended: the user is suspended or deleted.
        """
        if self.status != UserStatus.ACTIVE:
            raise UserSuspended


_LAST_LOGIN: Final = Column("last_login_at", Timestamp)
_NEVER_FIRST: Final[Any] = _LAST_LOGIN.nulls_first()

# Each filter of lists has an index per sort order. Users who have never logged in sort as if they had
# before all others, on both databases.
_ORDERS: Final = [
    Index(
        "_".join(["ix_users", *filtered, name, "id_deleted_at"]),
        *filtered,
        order,
        "id",
        # SQLite reads it also where the condition implies it.
        "deleted_at",
        info={WHERE: _LIVE},
    )
    for filtered in ((), ("status",), ("type",))
    for name, order in {
        "created_at": "created_at",
        "sort_key": "sort_key",
        "last_login_at": _NEVER_FIRST,
    }.items()
]

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
    Column("external_id", String(MAX_EXTERNAL_ID)),
    Column("suspended_until", Timestamp),
    Column("suspension_reason", String(MAX_REASON)),
    _LAST_LOGIN,
    Column("deletion_due_at", Timestamp),
    Column("timezone", String(MAX_ZONE)),
    Column("sort_key", SortKeyText, nullable=False, server_default=""),
    Index(None, "deleted_at", info={WHERE: "deleted_at IS NOT NULL"}),
    Index(None, "external_id", unique=True),
    Index(None, "suspended_until", info={WHERE: "suspended_until IS NOT NULL"}),
    Index(None, "deletion_due_at", info={WHERE: "deletion_due_at IS NOT NULL"}),
    *_ORDERS,
)
"""The row of a deleted user stays, because files refer to their owner. ``locale`` is a BCP 47 tag,
``timezone`` the name of a time zone of IANA.
``external_id`` is the id in another system; a deletion releases it. A suspension without
``suspended_until`` ends only by a reinstatement. ``deletion_due_at`` is set while a user can cancel the
user's own deletion."""

user_metadata: Final = Table(
    "user_metadata",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("metadata", JSON, nullable=False),
    Column("server_metadata", JSON, nullable=False),
)
"""JSON objects about users, in a table of their own so that logins do not read them. Users write
``metadata`` themselves; only administrators write ``server_metadata``."""


USER: Final = NamedRowMapper(User, users)

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
    is_verified: bool = True
    is_origin: bool = False
    written: str | None = None

    @property
    def credential(self) -> Credential:
        """The credential of the row."""
        return Credential(self.kind, self.value, self.written)

    @property
    def address(self) -> str:
        """What messages are sent to, and people see."""
        return self.credential.address


credentials: Final = Table(
    "credentials",
    metadata,
    Column("id", Id, primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("value", Name, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("is_verified", Boolean, nullable=False, server_default=true()),
    Column("is_origin", Boolean, nullable=False, server_default=false()),
    Column("written", Name),
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
"""``is_verified`` is false for a contact that an administrator or an import has set without a proof. The
first code that its holder returns verifies it. ``is_origin``: the account came with this credential of a
platform, which may suspend it. ``value`` is compared; ``written`` is an e-mail address as its user wrote
it, if it differs."""

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
    Column("expires_at", Timestamp),
    Column("change_required", Boolean, nullable=False, server_default=false()),
    Index(None, "scheme", "cost", info={WHERE: f"scheme <> '{OWN_SCHEME}'"}),
)
"""``scheme`` names the :class:`PasswordScheme` of an imported hash, and ``cost`` has its parameters. The
first successful login replaces the hash by one of :data:`OWN_SCHEME`, whose ``cost`` is empty. A
temporary password has an end, and no login until its user has changed it."""

account_links: Final = Table(
    "account_links",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("contact_kind", String(32)),
    Column("contact_value", Name),
    Column("created_by", Id, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)
"""Links by which users set a password, for one use. The secret is only in the link. A link that was sent
names the contact, and is void once the user has another one."""


contact_links: Final = Table(
    "contact_links",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("former", Name, nullable=False),
    Column("current", Name),
    Column("number", Integer, nullable=False),
    Column("changed_at", Timestamp, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("written", Name),
    Column("bound_at", Timestamp),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)
"""Links by which users take back a former contact, for one use. The secret is only in the link."""


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
