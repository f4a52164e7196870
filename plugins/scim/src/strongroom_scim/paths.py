"""Where the endpoints are, and what a client learns of them before it has a token."""

from collections.abc import Iterator
from typing import Final

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.plugin_api.host import HostAPI

PREFIX: Final = "/scim/v2"
TENANTS: Final = "tenants"
"""The first part of paths below the prefix that name a tenant, which no resource type has."""

MAX_BODY: Final = 4 * 1024 * 1024
"""Bytes of the body of a request about groups: 20,000 members have about 3 MiB."""

SCOPES: Final = (Scope.USERS_READ, Scope.USERS_WRITE)

_DOCUMENT: Final = f"oauth-protected-resource{PREFIX}"


def large_paths() -> Iterator[tuple[str, str]]:
    """Yield the methods and paths of requests that may name many members."""
    for start in ("", f"/{TENANTS}/<tenant>"):
        yield "POST", f"{start}/Bulk"
        yield "POST", f"{start}/Groups"
        yield "PUT", f"{start}/Groups/<group>"
        yield "PATCH", f"{start}/Groups/<group>"


def get_resource(host: HostAPI) -> str:
    """Return the URI of the application, the audience of clients' tokens (RFC 8707)."""
    return f"{host.public_url}{PREFIX}"


def describe_resource(host: HostAPI) -> DiscoveryDocument:
    """Return the metadata of the application (RFC 9728)."""
    members = {
        "resource": get_resource(host),
        "resource_name": "Strongroom SCIM",
        "authorization_servers": [host.public_url],
        "scopes_supported": [scope.value for scope in SCOPES],
        "bearer_methods_supported": ["header"],
    }
    return DiscoveryDocument(_DOCUMENT, members)


def get_challenge(host: HostAPI, *, is_wrong: bool) -> str:
    """Return the header ``WWW-Authenticate`` of a refusal (RFC 6750, section 3)."""
    metadata = f"{host.public_url}/.well-known/{_DOCUMENT}"
    stated = f'Bearer realm="SCIM", resource_metadata="{metadata}"'
    return f'{stated}, error="invalid_token"' if is_wrong else stated
