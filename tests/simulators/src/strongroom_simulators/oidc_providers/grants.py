"""Authorization codes and access tokens (RFC 6749, 4.1.2)."""

import secrets
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from strongroom_simulators.oidc_providers.refusals import Reason, Refusal
from strongroom_simulators.oidc_providers.registry import Person, RegisteredClient


@dataclass(slots=True)
class Grant:
    """What a person has granted to a client.

    Args:
        scope: the granted scopes.
        code_challenge: that of RFC 7636 with the method ``S256``; ``None`` without PKCE.
        expires_at: the end of the code, in seconds since the Unix epoch.
    """

    client: RegisteredClient
    person: Person
    redirect_uri: str
    scope: frozenset[str]
    nonce: str | None
    code_challenge: str | None
    granted_at: float
    expires_at: float
    is_used: bool = False
    is_revoked: bool = False


class Grants:
    """All codes and access tokens."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._codes: dict[str, Grant] = {}
        self._tokens: dict[str, Grant] = {}

    def add(self, grant: Grant) -> str:
        """Return a new code."""
        code = secrets.token_urlsafe(32)
        self._codes[code] = grant
        return code

    def spend(
        self, code: str, client: RegisteredClient, redirect_uri: str, verifier: str | None
    ) -> Grant:
        """Redeem a code. A second use revokes the tokens of the first one (RFC 6749, 4.1.2).

        Args:
            verifier: the ``code_verifier``, if the request has one.

        Raises:
            Refusal: the code is unknown, used, expired, or bound to other parameters.
        """
        with self._lock:
            grant = self._codes.get(code)
            if grant is None or grant.client != client:
                raise Refusal(Reason.CODE_UNKNOWN)
            if grant.is_used:
                grant.is_revoked = True
                raise Refusal(Reason.CODE_USED)
            self._check(grant, redirect_uri, verifier)
            grant.is_used = True
        return grant

    def _check(self, grant: Grant, redirect_uri: str, verifier: str | None) -> None:
        if self._clock() >= grant.expires_at:
            raise Refusal(Reason.CODE_EXPIRED)
        if redirect_uri != grant.redirect_uri:
            raise Refusal(Reason.REDIRECT_WRONG)
        if grant.code_challenge != (None if verifier is None else challenge_of(verifier)):
            raise Refusal(Reason.VERIFIER_WRONG)

    def access_token(self, grant: Grant) -> str:
        """Return a new access token."""
        token = secrets.token_urlsafe(32)
        self._tokens[token] = grant
        return token

    def of_token(self, token: str) -> Grant:
        """Return the grant of an access token.

        Raises:
            Refusal: the token is unknown or revoked.
        """
        grant = self._tokens.get(token)
        if grant is None or grant.is_revoked:
            raise Refusal(Reason.TOKEN_WRONG)
        return grant


def challenge_of(verifier: str) -> str:
    """Return the challenge of the method ``S256`` (RFC 7636, 4.2)."""
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()
