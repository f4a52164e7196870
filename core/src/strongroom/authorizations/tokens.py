"""Access tokens: JWTs (RFC 9068) of one algorithm and one issuer, fixed by configuration."""

from dataclasses import dataclass
from typing import Any, Final, TypeVar

from joserfc import jws, jwt
from joserfc.errors import JoseError

from strongroom.authorizations.key_file import KeyFile
from strongroom.authorizations.keys import KeyRing
from strongroom.cache import Cache
from strongroom.clock import Clock
from strongroom.errors import TokenInvalid
from strongroom.ids import is_id

T = TypeVar("T")

MAX_LENGTH: Final = 4096
CLIENT_ID: Final = "strongroom"
_TYPE: Final = "at+jwt"
_HEADER_NAMES: Final = frozenset({"alg", "kid", "typ"})


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """What a good token says. ``expires_at`` is in milliseconds since the Unix epoch."""

    user_id: str
    authorization_id: str
    serial: int
    expires_at: int


class TokenSigner:
    """Issues and checks tokens; whether they were revoked is not its business.

    Args:
        keys: what signs and verifies.
        issuer: the server's public URL; also the audience.
        lifetime: milliseconds.
        clock: the time.
    """

    def __init__(self, keys: KeyFile, *, issuer: str, lifetime: int, clock: Clock) -> None:
        self._keys = keys
        self._issuer = issuer
        self.lifetime = lifetime
        self._clock = clock
        self._verified = VerifiedTokens()

    def issue(self, user_id: str, authorization_id: str, serial: int, not_after: int) -> tuple[str, int]:
        """Return a new token, and when it expires: at ``not_after`` at the latest.

        Both times are in milliseconds since the Unix epoch.
        """
        issued_at = self._clock.now() // 1000
        expires_at = min(issued_at + self.lifetime // 1000, not_after // 1000)
        ring = self._keys.ring()
        header = {"alg": ring.algorithm, "kid": ring.signing_key.kid, "typ": _TYPE}
        claims = {
            "iss": self._issuer,
            "aud": self._issuer,
            "sub": user_id,
            "client_id": CLIENT_ID,
            "iat": issued_at,
            "exp": expires_at,
            "jti": token_id(authorization_id, serial),
        }
        token = jwt.encode(header, claims, ring.signing_key, algorithms=[ring.algorithm])
        return token, expires_at * 1000

    def public_keys(self) -> dict[str, Any]:
        """Return the JWK Set (RFC 7517) that others verify with; empty for HS256."""
        return self._keys.ring().public_set()

    def check(self, token: str) -> TokenClaims:
        """Return what a token says.

        Raises:
            TokenInvalid: it was not issued here, was changed, or has expired.
        """
        ring = self._keys.ring()
        claims = self._verified.recall(ring, token)
        if claims is None:
            claims = self._verify(ring, token)
            self._verified.remember(ring, token, claims)
        if claims.expires_at <= self._clock.now():
            raise TokenInvalid
        return claims

    def _verify(self, ring: KeyRing, token: str) -> TokenClaims:
        try:
            claims = _signed_claims(ring, token)
            authorization_id, serial = parse_token_id(_typed(claims, "jti", str))
            expires_at = _typed(claims, "exp", int) * 1000
            user_id = _typed(claims, "sub", str)
            begins_at = _typed(claims, "nbf", int) * 1000 if "nbf" in claims else 0
        except (JoseError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise TokenInvalid from error
        is_ours = claims.get("iss") == claims.get("aud") == self._issuer
        if not is_ours or not begins_at <= self._clock.now() < expires_at:
            raise TokenInvalid
        return TokenClaims(user_id, authorization_id, serial, expires_at)


class VerifiedTokens:
    """What tokens say whose signature was verified, for as long as the keys stay as they were.

    To verify a signature costs more than all else that a short answer takes. Whether a token has
    expired, or was revoked, is not remembered.

    Args:
        capacity: how many are remembered; then the oldest make room.
    """

    def __init__(self, capacity: int = 4096) -> None:
        self._capacity = capacity
        self._known: tuple[KeyRing | None, Cache[str, TokenClaims]] = (None, Cache(capacity))

    def recall(self, ring: KeyRing, token: str) -> TokenClaims | None:
        """Return what a token says, if the very same keys have verified it."""
        verified_by, claims = self._known
        return claims.get(token) if verified_by is ring else None

    def remember(self, ring: KeyRing, token: str, claims: TokenClaims) -> None:
        """Remember what a token says that keys have verified."""
        verified_by, known = self._known
        if verified_by is not ring:
            known = Cache(self._capacity)
            self._known = (ring, known)
        known.put(token, claims)


def _signed_claims(ring: KeyRing, token: str) -> dict[str, Any]:
    if len(token) > MAX_LENGTH:
        raise ValueError("too long")
    header = jws.extract_compact(token.encode("ascii")).headers()
    # Names outside of the set, "crit" and "jwk" among them, could only ask for something unusual.
    if set(header) != _HEADER_NAMES or header["typ"] != _TYPE:
        raise ValueError("unusual header")
    key = ring.find(header["kid"])
    if key is None:
        raise ValueError("unknown key")
    return jwt.decode(token, key, algorithms=[ring.algorithm]).claims


def _typed(claims: dict[str, Any], name: str, kind: type[T]) -> T:
    """Return a claim, which must be of exactly this type: True is no number, and infinity no time."""
    value = claims[name]
    if type(value) is not kind:
        raise TypeError(name)
    return value


def token_id(authorization_id: str, serial: int) -> str:
    """Return the ``jti`` of the token that an authorization issued as its ``serial``-th."""
    return f"{authorization_id}-{serial}"


def parse_token_id(text: str) -> tuple[str, int]:
    """Return the authorization's id and the serial in a ``jti``.

    Raises:
        ValueError: it is no ``jti`` of ours.
    """
    authorization_id, _, serial = text.rpartition("-")
    if not is_id(authorization_id) or not serial.isascii() or not serial.isdigit():
        raise ValueError("no token id")
    return authorization_id, int(serial)
