"""The names of what an access key may be used for."""

from collections.abc import Mapping
from typing import Final

SCOPES: Final[Mapping[str, str]] = {
    "users:read": "scope-users-read",
    "users:write": "scope-users-write",
    "users:impersonate": "scope-users-impersonate",
    "tenants:read": "scope-tenants-read",
    "tenants:write": "scope-tenants-write",
    "audit:read": "scope-audit-read",
    "files:read": "scope-files-read",
    "files:write": "scope-files-write",
    "files:share": "scope-files-share",
}
"""The keys of the names of the scopes, in the order of the forms."""

OF_SPACES: Final[Mapping[str, str]] = {
    scope: SCOPES[scope]
    for scope in ("files:read", "files:write", "files:share", "tenants:read", "tenants:write")
}
"""The scopes that a key of a space can have."""
