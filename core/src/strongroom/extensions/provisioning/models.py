"""Tables of directories, and of the users and groups that they have provisioned."""

from dataclasses import dataclass
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
    UniqueConstraint,
)

from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper

SERVER_REALM: Final = ""
"""The realm of the directories of the server; the realm of another one is its tenant."""


@dataclass(frozen=True, slots=True)
class Directory:
    """A row of :data:`directories`. Times are in milliseconds since the Unix epoch.

    Args:
        realm: where its ids and names are unique: the tenant, or :data:`SERVER_REALM`.
        account_id: the service account that acts for it; ``None``: the account was deleted.
        successor_id: the member who takes over the files of leavers; ``None``: the files stay.
    """

    id: str
    realm: str
    tenant_id: str | None
    account_id: str | None
    name: str
    may_write: bool
    successor_id: str | None
    registered_by: str
    created_at: int
    last_used_at: int | None = None
    last_changed_at: int | None = None


directories: Final = Table(
    "directories",
    metadata,
    Column("id", Id, primary_key=True),
    Column("realm", Id, nullable=False),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE")),
    Column("account_id", Id),
    Column("name", Name, nullable=False),
    Column("may_write", Boolean, nullable=False),
    Column("successor_id", Id),
    Column("registered_by", Id, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("last_used_at", Timestamp),
    Column("last_changed_at", Timestamp),
    UniqueConstraint("realm", "account_id"),
    Index(None, "tenant_id"),
    Index(None, "account_id"),
)
"""The service accounts that administrators have registered, in a tenant or in the server."""

DIRECTORY: Final = RowMapper(Directory, directories)


@dataclass(frozen=True, slots=True)
class ProvisionedUserRow:
    """A row of :data:`provisioned_users`."""

    user_id: str
    directory_id: str
    realm: str
    external_id: str | None
    login_name: str
    login_key: str
    name: str
    email_key: str | None
    profile: dict[str, Any]
    is_suspended: bool
    created_at: int
    updated_at: int
    revision: int


provisioned_users: Final = Table(
    "provisioned_users",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("directory_id", Id, ForeignKey("directories.id", ondelete="CASCADE"), nullable=False),
    Column("realm", Id, nullable=False),
    Column("external_id", Name),
    Column("login_name", Name, nullable=False),
    Column("login_key", Name, nullable=False),
    Column("name", Name, nullable=False),
    Column("email_key", Name),
    Column("profile", JSON, nullable=False),
    Column("is_suspended", Boolean, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("revision", Timestamp, nullable=False),
    UniqueConstraint("realm", "external_id"),
    UniqueConstraint("realm", "login_key"),
    Index(None, "directory_id", "created_at", "user_id"),
    Index(None, "directory_id", "email_key"),
)
"""Users that a directory has created, and what it has said of them last. ``login_key`` and ``email_key``
are folded, to be compared. ``is_suspended``: the
directory has suspended the account, which its next activation ends."""

PROVISIONED_USER: Final = RowMapper(ProvisionedUserRow, provisioned_users)


@dataclass(frozen=True, slots=True)
class ProvisionedGroupRow:
    """A row of :data:`provisioned_groups`."""

    group_id: str
    directory_id: str
    realm: str
    external_id: str | None
    created_at: int
    updated_at: int
    revision: int


provisioned_groups: Final = Table(
    "provisioned_groups",
    metadata,
    Column("group_id", Id, ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True),
    Column("directory_id", Id, ForeignKey("directories.id", ondelete="CASCADE"), nullable=False),
    Column("realm", Id, nullable=False),
    Column("external_id", Name),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("revision", Timestamp, nullable=False),
    UniqueConstraint("realm", "external_id"),
    Index(None, "directory_id", "created_at", "group_id"),
)
"""Groups that a directory has created. ``revision`` rises with its changes of the members, too."""

PROVISIONED_GROUP: Final = RowMapper(ProvisionedGroupRow, provisioned_groups)


@dataclass(frozen=True, slots=True)
class DueHandover:
    """A row of :data:`due_handovers`."""

    tenant_id: str
    user_id: str
    to_user_id: str
    requested_at: int


due_handovers: Final = Table(
    "due_handovers",
    metadata,
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Id, primary_key=True),
    Column("to_user_id", Id, nullable=False),
    Column("requested_at", Timestamp, nullable=False),
    Index(None, "requested_at"),
)
"""Files of leavers that a job transfers, because a leaver may own millions."""

DUE_HANDOVER: Final = RowMapper(DueHandover, due_handovers)


MAX_CODE: Final = 64
MAX_MESSAGE: Final = 500
"""Characters of the message of an error that is stored."""


@dataclass(frozen=True, slots=True)
class DirectoryError:
    """A row of :data:`directory_errors`.

    Args:
        kind: ``user`` or ``group``.
        name: the login name of the user, or the name of the group.
        name_key: the name, folded.
        resource_id: the id of the user or group; ``None``: the directory has not created it.
        status: the status of the response.
        code: the kind of error, in the terms of the protocol.
        count: how often it was refused since it last succeeded.
    """

    id: str
    directory_id: str
    kind: str
    name: str
    name_key: str
    resource_id: str | None
    status: int
    code: str | None
    message: str
    count: int
    first_at: int
    last_at: int


directory_errors: Final = Table(
    "directory_errors",
    metadata,
    Column("id", Id, primary_key=True),
    Column("directory_id", Id, ForeignKey("directories.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("name", Name, nullable=False),
    Column("name_key", Name, nullable=False),
    Column("resource_id", Id),
    Column("status", Integer, nullable=False),
    Column("code", String(MAX_CODE)),
    Column("message", String(MAX_MESSAGE), nullable=False),
    Column("count", Integer, nullable=False),
    Column("first_at", Timestamp, nullable=False),
    Column("last_at", Timestamp, nullable=False),
    UniqueConstraint("directory_id", "kind", "name_key"),
    Index(None, "directory_id", "last_at", "id"),
    Index(None, "last_at"),
)
"""The last refused request of a directory about each user or group, until one succeeds."""

DIRECTORY_ERROR: Final = RowMapper(DirectoryError, directory_errors)
