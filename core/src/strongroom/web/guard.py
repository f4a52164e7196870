"""Authentication and access control of routes, before the query or body is read."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, Final, Protocol

from flask import g, request

from strongroom.errors import AmbiguousToken, Forbidden, TokenRequired
from strongroom.identity import Identity
from strongroom.plugin_api.web import Access
from strongroom.web.components import use
from strongroom.web.requests import client

__all__ = [
    "TOKEN_HEADER",
    "Access",
    "TokenVerifier",
    "current_identity",
    "guarded",
    "optional_identity",
    "presented_token",
]

TOKEN_HEADER: Final = "X-Access-Token"  # noqa: S105  the name of a header


class TokenVerifier(Protocol):
    """Verifies access tokens."""

    def verify(self, token: str) -> Identity:
        """Return the identity of the token's user.

        Raises:
            TokenInvalid: the token is forged, expired or revoked.
        """


def guarded(view: Callable[..., Any], access: Access) -> Callable[..., Any]:
    """Wrap a view with authentication and the check of its access."""

    @wraps(view)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if access is not Access.PUBLIC:
            _authenticate(required=access is not Access.OPTIONAL)
        if access is Access.ADMIN and not current_identity().is_admin:
            raise Forbidden
        return view(*args, **kwargs)

    return checked


def current_identity() -> Identity:
    """Return the caller of a route that requires a token."""
    identity: Identity = g.identity
    return identity


def optional_identity() -> Identity | None:
    """Return the caller, or ``None`` if the request has no token."""
    identity: Identity | None = g.get("identity")
    return identity


def presented_token() -> str | None:
    """Return the access token of the request (RFC 6750, or the header ``X-Access-Token``).

    Raises:
        AmbiguousToken: the request has two different tokens.
    """
    tokens = {token for token in (_bearer_token(), request.headers.get(TOKEN_HEADER)) if token}
    if len(tokens) > 1:
        raise AmbiguousToken
    return tokens.pop() if tokens else None


def _bearer_token() -> str | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def _authenticate(*, required: bool) -> None:
    token = presented_token()
    if token is not None:
        identity = use(TokenVerifier).verify(token)  # type: ignore[type-abstract]
        g.identity = replace(identity, address=client().address)
    elif required:
        raise TokenRequired
