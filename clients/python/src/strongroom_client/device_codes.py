"""The requests of logins by a code (RFC 8628), and what the server says to them."""

import datetime
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from .operations import Operation
from .tokens import Grant, Tokens

DEFAULT_SCOPES: Final = ("files:share", "tenants:write")
"""Files, shares and tenants of the user, and nothing about the user."""

_DISCOVERY: Final = "/.well-known/oauth-authorization-server"
_GRANT_TYPE: Final = "urn:ietf:params:oauth:grant-type:device_code"
_OFFLINE: Final = "offline_access"
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


class ServerMetadata(msgspec.Struct, frozen=True):
    """What the server says about its endpoints (RFC 8414)."""

    token_endpoint: str
    revocation_endpoint: str
    device_authorization_endpoint: str
    strongroom_device_client: str | None = None

    @property
    def urls(self) -> Sequence[str]:
        """The URLs that get the tokens and the codes."""
        return (self.token_endpoint, self.revocation_endpoint, self.device_authorization_endpoint)


class DeviceCodes(msgspec.Struct, frozen=True):
    """The code that the user enters, and the page that takes it.

    Args:
        device_code: the secret of this program.
        expires_in: the seconds within which the user has to enter the code.
        interval: the seconds between two requests of this program.
    """

    device_code: str
    user_code: str
    verification_uri: str
    expires_in: int
    interval: int = 5


class GrantedTokens(msgspec.Struct, frozen=True):
    """The tokens of a response (RFC 6749, section 5.1)."""

    access_token: str
    expires_in: int
    refresh_token: str

    def of_grant(self, grant: Grant) -> Tokens:
        """Return them as the tokens of a login."""
        expires_at = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=self.expires_in)
        return Tokens(self.access_token, expires_at, self.refresh_token, None, grant)


def is_secure(url: str) -> bool:
    """Return whether a URL is of HTTPS or of this computer, so that the network cannot read tokens."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)


def discovery_operation() -> Operation[ServerMetadata]:
    """Return the request for the endpoints of the server."""
    return Operation("GET", _DISCOVERY, ServerMetadata)


def codes_operation(metadata: ServerMetadata, scopes: Sequence[str]) -> Operation[DeviceCodes]:
    """Return the request for the codes of a login."""
    form = {"client_id": metadata.strongroom_device_client, "scope": " ".join((*scopes, _OFFLINE))}
    return _form(metadata.device_authorization_endpoint, DeviceCodes, form)


def poll_operation(grant: Grant, codes: DeviceCodes) -> Operation[GrantedTokens]:
    """Return the request for the tokens, which the user may not have allowed yet."""
    form = {"grant_type": _GRANT_TYPE, "device_code": codes.device_code, "client_id": grant.client_id}
    return _form(grant.token_endpoint, GrantedTokens, form)


def refresh_operation(grant: Grant, refresh_token: str) -> Operation[GrantedTokens]:
    """Return the request for newer tokens."""
    form = {
        "grant_type": "refresh_token",
        "refresh_token": refresh_token,
        "client_id": grant.client_id,
    }
    return _form(grant.token_endpoint, GrantedTokens, form, is_repeated=True)


def revocation_operation(grant: Grant, refresh_token: str) -> Operation[None]:
    """Return the request that ends a grant."""
    form = {"token": refresh_token, "client_id": grant.client_id}
    return _form(grant.revocation_endpoint, type(None), form, is_repeated=True)


def _form(
    url: str, returns: type[Any], form: dict[str, Any], *, is_repeated: bool = False
) -> Operation[Any]:
    media_type = "application/x-www-form-urlencoded"
    return Operation("POST", url, returns, body=form, media_type=media_type, is_repeated=is_repeated)
