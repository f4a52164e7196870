"""Authentication of requests: the presented token, the caller, and the access that a route requires."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from flask import g

from strongroom.errors import AmbiguousToken, Forbidden, TokenRequired
from strongroom.http.request import client_address, get_service, header
from strongroom.identity import Caller, Identity
from strongroom.plugin_api.web import Access

__all__ = [
    "TOKEN_HEADER",
    "Access",
    "Authenticator",
    "authenticate",
    "carries_token",
    "current_identity",
    "optional_identity",
    "own_id",
    "presented_token",
    "require_verified_login",
]

TOKEN_HEADER: Final = "X-Access-Token"  # noqa: S105  the name of a header


class Authenticator(Protocol):
    """Verifies access tokens."""

    def caller(self, token: str, address: str | None) -> Caller:
        """Return the user of a token, whose login may have been revoked.

        Raises:
            TokenInvalid: the token is forged or has expired.
        """

    def identify(self, caller: Caller) -> Identity:
        """Verify the login of a caller.

        Raises:
            TokenInvalid: the login was revoked.
        """

    def note_seen(self, caller: Caller) -> None:
        """Record the use of a verified caller's login."""


def authenticate(access: Access, *, verify_login: bool = True) -> Caller | None:
    """Verify the token of the request as far as the route requires it.

    Args:
        access: the callers that the route admits.
        verify_login: whether to verify here that the login is not revoked; otherwise the first query
            of the view does, and :func:`require_verified_login` checks afterwards that it did.

    Returns:
        The user of the token, or ``None`` without a token.

    Raises:
        TokenRequired: the route requires a token, and the request has none.
        TokenInvalid: the token is forged, expired or revoked.
        AmbiguousToken: the request has two different tokens.
        Forbidden: the route requires a server administrator, and the caller is none.
    """
    # A public route ignores tokens, so that an expired one does not prevent a new login.
    token = None if access is Access.PUBLIC else presented_token()
    if token is None:
        if access in (Access.PUBLIC, Access.OPTIONAL):
            return None
        raise TokenRequired
    authenticator = get_service(Authenticator)
    g.caller = caller = authenticator.caller(token, client_address())
    if verify_login:
        identity = authenticator.identify(caller)
        authenticator.note_seen(caller)
        if access is Access.ADMIN and not identity.is_admin:
            raise Forbidden
    return caller


def require_verified_login(caller: Caller) -> None:
    """Check that a view without ``verify_login`` has verified the login, and record its use.

    Raises:
        RuntimeError: the view has not; its response must not be sent.
    """
    if caller.identity is None:
        raise RuntimeError("the view has not verified the login of its caller")
    get_service(Authenticator).note_seen(caller)


def current_identity() -> Identity:
    """Return the caller of a route that requires a token, with a verified login."""
    identity = optional_identity()
    if identity is None:
        raise RuntimeError("the request has no verified caller")
    return identity


def optional_identity() -> Identity | None:
    """Return the caller, or ``None`` if the request has no token."""
    caller: Caller | None = g.get("caller")
    if caller is None:
        return None
    return caller.identity or get_service(Authenticator).identify(caller)


def own_id(user_id: str) -> str:
    """Resolve ``me`` in a path to the calling user's id; return any other id unchanged."""
    return str(g.caller.user_id) if user_id == "me" else user_id


def presented_token() -> str | None:
    """Return the access token of the request (RFC 6750, or the header ``X-Access-Token``).

    Raises:
        AmbiguousToken: the request has two different tokens.
    """
    bearer, plain = _bearer_token(header("Authorization")), header(TOKEN_HEADER)
    # Which one is meant is unknown, and choosing one would hide a mistake of the client.
    if bearer and plain and bearer != plain:
        raise AmbiguousToken
    return bearer or plain or None


def carries_token(environ: Mapping[str, Any]) -> bool:
    """Return whether a request has a header in which tokens are presented, valid or not."""
    return "HTTP_AUTHORIZATION" in environ or "HTTP_X_ACCESS_TOKEN" in environ


def _bearer_token(authorization: str | None) -> str | None:
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
