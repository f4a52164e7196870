"""Who sends a request, and how others learn to."""

from collections.abc import Iterable
from typing import Final

from strongroom.plugin_api.authentication import CallerInfo, Scope
from strongroom.plugin_api.discovery import DiscoveryDocument
from strongroom.plugin_api.host import HostAPI
from strongroom_mcp.links import PREFIX

SCOPES: Final = (Scope.FILES_READ, Scope.FILES_WRITE, Scope.FILES_SHARE, Scope.TENANTS_READ)
"""The scopes that tools need."""

_DOCUMENT: Final = f"oauth-protected-resource{PREFIX}"


def find_caller(host: HostAPI) -> CallerInfo:
    """Return the caller of the request: the user of a token or an access key, with its limits.

    This is the only place where a token becomes a caller. The token of a client must be for this
    application (RFC 8707).

    Raises:
        ApiError: with status 401 or 403.
    """
    host.authenticate(scope=Scope.FILES_READ, audience=get_resource(host))
    caller = host.caller
    assert caller is not None  # noqa: S101  authenticate() has set it
    return caller


def get_resource(host: HostAPI) -> str:
    """Return the URI of the application, the audience of its tokens."""
    return f"{host.public_url}{PREFIX}"


def describe_resource(host: HostAPI) -> DiscoveryDocument:
    """Return the metadata of the application (RFC 9728), by which a client finds the login."""
    members = {
        "resource": get_resource(host),
        "resource_name": "Strongroom",
        "authorization_servers": [host.public_url],
        "scopes_supported": [scope.value for scope in SCOPES],
        "bearer_methods_supported": ["header"],
    }
    return DiscoveryDocument(_DOCUMENT, members)


def get_challenge(
    host: HostAPI, error: str | None = None, scopes: Iterable[str] = (Scope.FILES_READ,)
) -> str:
    """Return the header ``WWW-Authenticate`` of a refusal (RFC 6750, section 3; RFC 9728, section 5).

    Args:
        error: the code of the error; ``None``: the request had no token.
        scopes: all scopes of the operation.
    """
    metadata = f"{host.public_url}/.well-known/{_DOCUMENT}"
    stated = f'Bearer resource_metadata="{metadata}", scope="{" ".join(scopes)}"'
    return stated if error is None else f'{stated}, error="{error}"'
