"""Signs and verifies access tokens."""

from dataclasses import dataclass
from typing import Any, Final, TypeVar

from joserfc import jws, jwt
from joserfc.errors import JoseError

from strongroom.clock import Clock
from strongroom.foundation.cache import Cache
from strongroom.foundation.errors import TokenInvalid
from strongroom.foundation.ids import is_id
from strongroom.identity.sessions.models import Authorization
from strongroom.identity.sessions.signing_keys import KeyFile, KeyRing, key_algorithm

T = TypeVar("T")

MAX_LENGTH: Final = 4096
CLIENT_ID: Final = "strongroom"
_TYPE: Final = "at+jwt"
_HEADER_NAMES: Final = frozenset({"alg", "kid", "typ"})


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """Claims of a verified token. ``expires_at`` is in milliseconds since the Unix epoch."""

    user_id: str
    authorization_id: str
    serial: int
    expires_at: int


class TokenSigner:
    """Issues and verifies access tokens. It does not check for revocation.

    Args:
        issuer: the server's public URL; also the audience.
        lifetime: lifetime of a token in milliseconds.
    """

    def __init__(self, keys: KeyFile, *, issuer: str, lifetime: int, clock: Clock) -> None:
        self._keys = keys
        self._issuer = issuer
        self.lifetime = lifetime
        self._clock = clock
        self._verified = VerifiedTokens()

    def issue(self, authorization: Authorization) -> tuple[str, int]:
        """Return a new token of a login (RFC 9068), and its expiry.

        The expiry is in milliseconds since the Unix epoch, and not after the login's.
        """
        issued_at = self._clock.now() // 1000
        expires_at = authorization.expires_at // 1000
        # An impersonation cannot be renewed, so its only token lasts as long as it does.
        if authorization.actor_id is None:
            expires_at = min(issued_at + self.lifetime // 1000, expires_at)
        ring = self._keys.ring()
        key = ring.signing_key
        header = {"alg": ring.algorithm, "kid": key.kid, "typ": _TYPE}
        claims = {
            "iss": self._issuer,
            "aud": self._issuer,
            "sub": authorization.user_id,
            "client_id": CLIENT_ID,
            "iat": issued_at,
            "exp": expires_at,
            "jti": token_id(authorization.id, authorization.serial),
            "auth_time": authorization.auth_time // 1000,
            "acr": authorization.acr,
            "amr": authorization.amr.split(),
        }
        if authorization.actor_id is not None:
            claims["act"] = {"sub": authorization.actor_id}
        token = jwt.encode(header, claims, key, algorithms=[ring.algorithm])
        return token, expires_at * 1000

    def public_keys(self) -> dict[str, Any]:
        """Return the JWK Set (RFC 7517) that other services verify with; empty for HS256."""
        return self._keys.ring().public_set()

    def check(self, token: str) -> TokenClaims:
        """Verify a token and return its claims.

        Raises:
            TokenInvalid: it was not issued by this server, was altered, or has expired.
        """
        now = self._clock.now()
        claims = self._verified.recall(self._keys.recent_ring(now), token)
        if claims is None:
            ring = self._keys.ring()
            claims = self._verify(ring, token)
            self._verified.remember(ring, token, claims)
        # Checked on every use, because the cache does not expire tokens.
        if claims.expires_at <= now:
            raise TokenInvalid
        return claims

    def _verify(self, ring: KeyRing, token: str) -> TokenClaims:
        try:
            claims = _signed_claims(ring, token)
            authorization_id, serial = parse_token_id(_typed(claims, "jti", str))
            expires_at = _typed(claims, "exp", int) * 1000
            user_id = _typed(claims, "sub", str)
            begins_at = _typed(claims, "nbf", int) * 1000 if "nbf" in claims else 0
        # RecursionError: deeply nested JSON in the header or the claims.
        except (JoseError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise TokenInvalid from error
        # Other services may trust the same keys, so a token for another audience must be refused.
        is_ours = claims.get("iss") == claims.get("aud") == self._issuer
        if not is_ours or not begins_at <= self._clock.now() < expires_at:
            raise TokenInvalid
        return TokenClaims(user_id, authorization_id, serial, expires_at)


class VerifiedTokens:
    """Caches the claims of tokens whose signature was verified, until the keys change.

    Verifying a signature costs more than the rest of a short request. Expiry and revocation are not
    cached.

    Args:
        capacity: maximum number of tokens; the oldest are evicted.
    """

    def __init__(self, capacity: int = 4096) -> None:
        self._capacity = capacity
        # One tuple, replaced as a whole: threads see a key ring with its own cache, without a lock.
        self._known: tuple[KeyRing | None, Cache[str, TokenClaims]] = (None, Cache(capacity))

    def recall(self, ring: KeyRing, token: str) -> TokenClaims | None:
        """Return the claims of a token that was verified with the same key ring."""
        verified_by, claims = self._known
        return claims.get(token) if verified_by is ring else None

    def remember(self, ring: KeyRing, token: str, claims: TokenClaims) -> None:
        """Cache the claims of a token that was verified with a key ring."""
        verified_by, cache = self._known
        if verified_by is not ring:
            cache = Cache(self._capacity)
            self._known = (ring, cache)
        cache.put(token, claims)


def _signed_claims(ring: KeyRing, token: str) -> dict[str, Any]:
    if len(token) > MAX_LENGTH:
        raise ValueError("too long")
    header = jws.extract_compact(token.encode("ascii")).headers()
    # Reject all other header parameters: "jwk", "jku" or "crit" could change how a token is verified.
    if set(header) != _HEADER_NAMES or header["typ"] != _TYPE:
        raise ValueError("unusual header")
    # The header's "alg" is not trusted: each key has one algorithm, and no other is accepted below.
    key = ring.find(header["kid"])
    if key is None:
        raise ValueError("unknown key")
    return jwt.decode(token, key, algorithms=[key_algorithm(key)]).claims


def _typed(claims: dict[str, Any], name: str, kind: type[T]) -> T:
    """Return a claim of exactly this type: ``True`` is not a number, and infinity is not a time."""
    value = claims[name]
    if type(value) is not kind:
        raise TypeError(name)
    return value


def token_id(authorization_id: str, serial: int) -> str:
    """Return the ``jti`` of the ``serial``-th token of an authorization."""
    return f"{authorization_id}-{serial}"


def parse_token_id(text: str) -> tuple[str, int]:
    """Parse a ``jti``; return the authorization's id and the serial.

    Raises:
        ValueError: the text is not a ``jti`` of this server.
    """
    authorization_id, _, serial = text.rpartition("-")
    if not is_id(authorization_id) or not serial.isascii() or not serial.isdigit():
        raise ValueError("no token id")
    return authorization_id, int(serial)
