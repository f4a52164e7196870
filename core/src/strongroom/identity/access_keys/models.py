"""The table of access keys."""

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import JSON, Column, ForeignKey, Index, SmallInteger, String, Table

from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper
from strongroom.plugin_api.authentication import Scope


@dataclass(frozen=True, slots=True)
class AccessKey:
    """A row of :data:`access_keys`. Times are in milliseconds since the Unix epoch."""

    id: str
    user_id: str
    name: str
    secret_hash: str = field(repr=False)
    previous_hash: str | None = field(repr=False)
    previous_until: int | None
    scopes: str
    max_permission: int
    tenant_id: str | None
    folder_id: str | None
    addresses: list[str]
    created_by: str
    created_at: int
    expires_at: int
    last_used_at: int | None
    last_used_from: str | None
    warned_at: int | None


access_keys: Final = Table(
    "access_keys",
    metadata,
    Column("id", String(8), primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("name", Name, nullable=False),
    Column("secret_hash", String(64), nullable=False),
    Column("previous_hash", String(64)),
    Column("previous_until", Timestamp),
    Column("scopes", String(255), nullable=False),
    Column("max_permission", SmallInteger, nullable=False),
    Column("tenant_id", Id),
    Column("folder_id", Id),
    Column("addresses", JSON, nullable=False),
    Column("created_by", Id, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("last_used_at", Timestamp),
    Column("last_used_from", String(64)),
    Column("warned_at", Timestamp),
    Index(None, "user_id", "created_at", "id"),
    Index(None, "expires_at"),
)
"""The hashes are SHA-256 of the secret, which is random, so a slow hash would add nothing. ``scopes`` is
a list separated by spaces; ``max_permission`` is the permission on files that they allow. Tenant and
folder are no foreign keys: a key whose folder was deleted must keep its limit, and so reach nothing."""

ACCESS_KEY: Final = RowMapper(AccessKey, access_keys)

_PERMISSIONS: Final = {Scope.FILES_READ: 1, Scope.FILES_WRITE: 2, Scope.FILES_SHARE: 3}
"""The permission on files that a scope allows, as in ``files.models.Permission``."""

FILE_SCOPES: Final = frozenset(_PERMISSIONS)
TENANT_SCOPES: Final = FILE_SCOPES | {Scope.TENANTS_READ}
"""The scopes that a key limited to a folder, or to a tenant, can have."""


def max_permission(scopes: frozenset[Scope]) -> int:
    """Return the highest permission on files that scopes allow; 0 is none."""
    return max((_PERMISSIONS.get(scope, 0) for scope in scopes), default=0)


_READ_BY_WRITE: Final = {
    Scope.USERS_WRITE: Scope.USERS_READ,
    Scope.TENANTS_WRITE: Scope.TENANTS_READ,
}


def with_included(scopes: frozenset[Scope]) -> frozenset[Scope]:
    """Return the scopes, and those that they include."""
    read = {_READ_BY_WRITE[scope] for scope in scopes & _READ_BY_WRITE.keys()}
    return scopes | read | file_scopes(max_permission(scopes))


def file_scopes(permission: int) -> frozenset[Scope]:
    """Return the scopes of files that allow at most a permission on them."""
    return frozenset(scope for scope, level in _PERMISSIONS.items() if level <= permission)
