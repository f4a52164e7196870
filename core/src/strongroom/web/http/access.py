"""Authentication of requests: the presented token or access key, the caller, and what a route requires.

Every route that requires a caller accepts tokens, and access keys as bearer tokens if it names a scope.
Other ways to present an access key are the authenticators of plugins; a route accepts them by name.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, Protocol

from strongroom.foundation.caller import Caller, GrantLimits, Identity, KeyUse
from strongroom.foundation.errors import (
    AmbiguousToken,
    Forbidden,
    KeyNotAccepted,
    StrongroomError,
    TokenInvalid,
    TokenRequired,
    Unavailable,
)
from strongroom.plugin_api.authentication import ACCESS_KEY_PREFIX, Scope
from strongroom.plugin_api.web import Access
from strongroom.web.http.authenticators import Authenticators
from strongroom.web.http.request import CALLER, client_address, current_environ, get_service

__all__ = [
    "TOKEN_HEADER",
    "Access",
    "FactorGuard",
    "KeyAuthenticator",
    "TokenAuthenticator",
    "administers_by_key",
    "authenticate",
    "current_identity",
    "login_watch",
    "optional_identity",
    "own_id",
    "presented_token",
    "refuse_impersonation",
    "require_recent_factor",
    "require_verified_login",
    "set_caller",
]

TOKEN_HEADER: Final = "X-Access-Token"  # noqa: S105  the name of a header
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class TokenAuthenticator(Protocol):
    """Verifies access tokens."""

    def caller(self, token: str, address: str | None, use: KeyUse | None = None) -> Caller:
        """Return the user of a token, whose login or grant may have been revoked.

        Args:
            use: what a client may use the token of a grant for; ``None``: only a login's is accepted.

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


class KeyAuthenticator(Protocol):
    """Verifies access keys."""

    def caller(self, text: str, address: str | None, use: KeyUse) -> Caller:
        """Return the user of a presented key, which may be wrong.

        Raises:
            TokenInvalid: there is no such key.
            TooManyRequests: the address has sent too many wrong keys.
        """

    def identify(self, caller: Caller) -> Identity:
        """Verify the key of a caller.

        Raises:
            TokenInvalid: the key is wrong, has ended or was revoked.
            Forbidden: the key may not be used for this request.
        """

    def note_seen(self, caller: Caller) -> None:
        """Record the use of a verified key."""


class FactorGuard(Protocol):
    """Requires recent proofs of second factors."""

    def require_factor(self, identity: Identity) -> None:
        """Require that a user with a second factor has proven it lately.

        Raises:
            StepUpRequired: the user has not.
        """


def authenticate(
    access: Access,
    *,
    verify_login: bool = True,
    scope: Scope | None = None,
    authenticators: Sequence[str] = (),
    tenant_id: str | None = None,
    token: str | None = None,
    impersonation: bool | None = None,
    audience: str | None = None,
) -> Caller | None:
    """Verify the token or the access key of the request as far as the route requires it.

    Args:
        access: the callers that the route accepts.
        verify_login: whether to verify here that the login is not revoked; otherwise the first query
            of the view does, and :func:`require_verified_login` checks afterwards that it did.
        scope: the scope that an access key or a client's grant needs; without one, the route accepts
            neither.
        authenticators: the names of the authenticators that the route accepts.
        tenant_id: the tenant in the path, or ``ANY_TENANT``: keys of other tenants are refused, and
            without one all keys that are limited to a tenant.
        token: the token or access key to verify; ``None``: the one that the request presents.
        impersonation: whether impersonated users are accepted; ``None``: if the method is safe (RFC
            9110, section 9.2.1).
        audience: the audience of the tokens of clients; ``None``: the REST API.

    Returns:
        The user of the token or key, or ``None`` without any.

    Raises:
        TokenRequired: the route requires a token, and the request has none.
        TokenInvalid: the token is forged, expired or revoked, or the key is wrong.
        AmbiguousToken: the request has two different tokens.
        KeyNotAccepted: the route accepts neither access keys nor grants.
        Forbidden: the route requires a server administrator, and the caller is none.
        ImpersonationRefused: the user is impersonated, and the route does not accept it.
    """
    # A public route ignores tokens, so that an expired one does not prevent a new login.
    if token is None and access is not Access.PUBLIC:
        token = presented_token()
    use = KeyUse(scope, tenant_id, audience)
    authenticator: TokenAuthenticator | KeyAuthenticator
    if token is not None and not token.startswith(ACCESS_KEY_PREFIX):
        authenticator = get_service(TokenAuthenticator)
        caller = authenticator.caller(token, client_address(), use)
    else:
        key = token or _key_of_authenticator(access, authenticators)
        if key is None:
            return None
        if scope is None:
            raise KeyNotAccepted
        authenticator = get_service(KeyAuthenticator)
        caller = authenticator.caller(key, client_address(), use)
    caller.accepts_impersonation = (
        current_environ()["REQUEST_METHOD"] in SAFE_METHODS if impersonation is None else impersonation
    )
    set_caller(caller)
    if verify_login:
        identity = authenticator.identify(caller)
        authenticator.note_seen(caller)
        if access is Access.ADMIN and not identity.is_admin:
            raise Forbidden
    return caller


def administers_by_key(scope: Scope) -> bool:
    """Return whether a public route is called with a key or a grant that administers the server.

    Public routes ignore access tokens, because an expired one must not prevent a new login. A program
    that presents an access key wants it to be checked.

    Args:
        scope: the scope that the key needs.

    Raises:
        StrongroomError: the key is wrong, or lacks the scope; see :func:`authenticate`.
    """
    token = presented_token()
    if token is None or not (token.startswith(ACCESS_KEY_PREFIX) or _is_of_grant(token, scope)):
        return False
    authenticate(Access.OPTIONAL, scope=scope, token=token)
    return current_identity().is_admin


def _is_of_grant(token: str, scope: Scope) -> bool:
    try:
        caller = get_service(TokenAuthenticator).caller(token, None, KeyUse(scope, None))
    except TokenInvalid:
        return False
    return caller.key is not None


def refuse_impersonation() -> None:
    """Refuse an impersonated user on a public route, which otherwise ignores tokens.

    Raises:
        ImpersonationRefused: the request presents the token of an impersonation.
    """
    token = presented_token()
    if token is None or token.startswith(ACCESS_KEY_PREFIX):
        return
    authenticator = get_service(TokenAuthenticator)
    with suppress(TokenInvalid):
        authenticator.identify(authenticator.caller(token, client_address()))


def set_caller(caller: Caller) -> None:
    """Make a verified caller the request's, in place of the one that a header presents."""
    current_environ()[CALLER] = caller


def require_verified_login(caller: Caller) -> None:
    """Check that a view without ``verify_login`` has verified the login, and record its use.

    Raises:
        RuntimeError: the view has not; its response must not be sent.
    """
    if caller.identity is None:
        raise RuntimeError("the view has not verified the login of its caller")
    _get_authenticator(caller).note_seen(caller)


def require_recent_factor(caller: Caller) -> None:
    """Require a recent proof of the second factor, for routes that are declared as sensitive.

    Access keys are exempt where a route accepts them: creating one needed this proof.

    Raises:
        TokenInvalid: the login was revoked.
        StepUpRequired: the user has a second factor, and has not proven it lately.
    """
    if caller.key is None:
        identity = caller.identity or _get_authenticator(caller).identify(caller)
        get_service(FactorGuard).require_factor(identity)


def login_watch() -> Callable[[], bool] | None:
    """Return a function that tells whether the caller may still act, or ``None`` without a caller.

    It may be called after the request, while its response is sent.
    """
    caller: Caller | None = current_environ().get(CALLER)
    return None if caller is None else partial(_is_valid, _get_authenticator(caller), caller)


def _is_valid(authenticator: "TokenAuthenticator | KeyAuthenticator", caller: Caller) -> bool:
    try:
        # A copy, because the identity of this caller was verified before.
        authenticator.identify(replace(caller))
    except Unavailable:
        # A database that is unavailable ends no response that has begun.
        return True
    except StrongroomError:
        return False
    return True


def current_identity() -> Identity:
    """Return the caller of a route that requires a token, with a verified login."""
    identity = optional_identity()
    if identity is None:
        raise RuntimeError("the request has no verified caller")
    return identity


def optional_identity() -> Identity | None:
    """Return the caller, or ``None`` if the request has no token."""
    caller: Caller | None = current_environ().get(CALLER)
    if caller is None:
        return None
    return caller.identity or _get_authenticator(caller).identify(caller)


def presented_user_id() -> str | None:
    """Return the user of the token in the request, whose login is perhaps revoked, or ``None``."""
    caller: Caller | None = current_environ().get(CALLER)
    return None if caller is None else str(caller.user_id)


def own_id(user_id: str) -> str:
    """Resolve ``me`` in a path to the calling user's id; return any other id unchanged."""
    return str(current_environ()[CALLER].user_id) if user_id == "me" else user_id


def presented_token() -> str | None:
    """Return the access token of the request (RFC 6750, or the header ``X-Access-Token``).

    Raises:
        AmbiguousToken: the request has two different tokens.
    """
    environ = current_environ()
    authorization, plain = environ.get("HTTP_AUTHORIZATION"), environ.get("HTTP_X_ACCESS_TOKEN")
    bearer = None if authorization is None else _bearer_token(authorization)
    # Which one is meant is unknown, and choosing one would hide a mistake of the client.
    if bearer and plain and bearer != plain:
        raise AmbiguousToken
    return bearer or plain or None


def _get_authenticator(caller: Caller) -> TokenAuthenticator | KeyAuthenticator:
    if caller.key is not None and not isinstance(caller.key, GrantLimits):
        return get_service(KeyAuthenticator)
    return get_service(TokenAuthenticator)


def _key_of_authenticator(access: Access, authenticators: Sequence[str]) -> str | None:
    """Return the access key that an accepted authenticator finds in the request, or ``None``."""
    if access is Access.PUBLIC:
        return None
    key = get_service(Authenticators).find(authenticators) if authenticators else None
    if key is None and access is not Access.OPTIONAL:
        raise TokenRequired
    return key


def _bearer_token(authorization: str) -> str | None:
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
