"""What scopes include, and what they allow on files."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from strongroom.plugin_api.authentication import Scope

_PERMISSIONS: Final[Mapping[Scope, int]] = {
    Scope.FILES_READ: 1,
    Scope.FILES_WRITE: 2,
    Scope.FILES_SHARE: 3,
}
"""The permission on files that a scope allows, as in ``nodes.models.Permission``."""

FILE_SCOPES: Final = frozenset(_PERMISSIONS)
TENANT_SCOPES: Final = FILE_SCOPES | {Scope.TENANTS_READ}
"""The scopes that a key or a grant limited to a folder, or to a tenant, can have."""

DIRECTORY_SCOPES: Final = frozenset({Scope.USERS_READ, Scope.USERS_WRITE})
"""The scopes with which a service account of a tenant provisions users of the tenant as a directory.

Nothing else of these scopes is in a tenant, so a key that is limited to one reaches nothing else.
"""


def max_permission(scopes: frozenset[Scope]) -> int:
    """Return the highest permission on files that scopes allow; 0 is none."""
    return max((_PERMISSIONS.get(scope, 0) for scope in scopes), default=0)


_READ_BY_WRITE: Final = {
    Scope.USERS_WRITE: Scope.USERS_READ,
    Scope.TENANTS_WRITE: Scope.TENANTS_READ,
}


@lru_cache(maxsize=256)
def parse_scopes(text: str) -> frozenset[Scope]:
    """Return the scopes of the REST API in a list separated by spaces, and those that they include."""
    names = frozenset(Scope)
    return with_included(frozenset(Scope(scope) for scope in text.split() if scope in names))


def with_included(scopes: frozenset[Scope]) -> frozenset[Scope]:
    """Return the scopes, and those that they include."""
    read = {_READ_BY_WRITE[scope] for scope in scopes & _READ_BY_WRITE.keys()}
    return scopes | read | file_scopes(max_permission(scopes))


def file_scopes(permission: int) -> frozenset[Scope]:
    """Return the scopes of files that allow at most a permission on them."""
    return frozenset(scope for scope, level in _PERMISSIONS.items() if level <= permission)
