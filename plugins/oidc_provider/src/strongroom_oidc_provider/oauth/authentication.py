"""Authentication of clients by their secrets (RFC 6749, section 2.3.1)."""

import binascii
from base64 import b64decode
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote_plus

from authlib.oauth2.rfc6749 import InvalidClientError, InvalidRequestError

from strongroom_oidc_provider.oauth.client import OAuthClient
from strongroom_oidc_provider.oauth.requests import ProviderRequest

FindClient = Callable[[str], OAuthClient | None]


def authenticate_basic(find: FindClient, request: ProviderRequest) -> Any:
    """Authenticate a client by Basic; ``None`` without a valid secret.

    Authlib's function fails for a header that is not UTF-8, and reads ``+`` as it is.
    """
    header = request.headers.get("Authorization") or ""
    scheme, _, value = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    if "client_secret" in request.form:
        raise InvalidRequestError("The request has two ways of authentication.")
    try:
        pair = b64decode(value.strip(), validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidClientError("The Authorization header is malformed.", status_code=401) from error
    name, _, secret = pair.partition(":")
    return _find_verified(find, unquote_plus(name), unquote_plus(secret))


def authenticate_post(find: FindClient, request: ProviderRequest) -> Any:
    """Authenticate a client by its form; ``None`` without a valid secret."""
    return _find_verified(find, request.form.get("client_id", ""), request.form.get("client_secret", ""))


def _find_verified(find: FindClient, client_id: str, secret: str) -> OAuthClient | None:
    client = find(client_id) if client_id and secret else None
    return client if client is not None and client.check_client_secret(secret) else None
