"""The token guard: who may call a route, decided before anything of the request is read."""

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
    """Knows which tokens are good."""

    def verify(self, token: str) -> Identity:
        """Return whom the token stands for.

        Raises:
            TokenInvalid: nobody: it is forged, has expired, or was revoked.
        """


def guarded(view: Callable[..., Any], access: Access) -> Callable[..., Any]:
    """Return the view behind a check that the caller has the access."""

    @wraps(view)
    def checked(*args: Any, **kwargs: Any) -> Any:
        if access is not Access.PUBLIC:
            _authenticate(required=access is not Access.OPTIONAL)
        if access is Access.ADMIN and not current_identity().is_admin:
            raise Forbidden
        return view(*args, **kwargs)

    return checked


def current_identity() -> Identity:
    """Return who is calling a route that is not public."""
    identity: Identity = g.identity
    return identity


def optional_identity() -> Identity | None:
    """Return who is calling, if the request carries a token."""
    identity: Identity | None = g.get("identity")
    return identity


def presented_token() -> str | None:
    """Return the access token of the request (RFC 6750, or the header ``X-Access-Token``).

    Raises:
        AmbiguousToken: it carries two that differ.
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
