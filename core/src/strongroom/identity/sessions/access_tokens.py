"""Signs and verifies access tokens: the tokens of logins and of clients' grants.

The audience of a login's token is this server as a string, and the audience of a grant's token is a
list, so that neither is ever taken for the other, also not by earlier versions. A token whose audience
is another service is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from joserfc.errors import JoseError

from strongroom.clock import Clock
from strongroom.foundation.cache import Cache
from strongroom.foundation.caller import GrantLimits
from strongroom.foundation.errors import TokenInvalid
from strongroom.foundation.ids import is_id
from strongroom.foundation.scopes import max_permission, parse_scopes
from strongroom.identity.sessions.models import Authorization
from strongroom.identity.sessions.signed_tokens import read_signed, sign_token
from strongroom.identity.sessions.signing_keys import KeyFile, KeyRing
from strongroom.identity.sessions.statements import sign_public, verify_public

T = TypeVar("T")

MAX_LENGTH: Final = 4096
CLIENT_ID: Final = "strongroom"
_TYPE: Final = "at+jwt"
_DETAILS: Final = "authorization_details"
_FOLDER: Final = "folder"
_TENANT: Final = "tenant"
_RESERVED: Final = frozenset(
    (
        "acr",
        "act",
        "amr",
        "aud",
        "auth_time",
        _DETAILS,
        "client_id",
        "cnf",
        "exp",
        "iat",
        "iss",
        "jti",
        "may_act",
        "nbf",
        "scope",
        "sub",
    )
)


@dataclass(frozen=True, slots=True)
class TokenClaims:
    """Claims of a verified token. Times are in milliseconds since the Unix epoch.

    Args:
        limits: what a client's grant permits; ``None``: a login's token.
        scopes: all scopes of the token of a grant, also such as the REST API does not know.
        issued_at: when it was issued, of a grant's token.
    """

    user_id: str
    authorization_id: str
    serial: int
    expires_at: int
    limits: GrantLimits | None = None
    scopes: tuple[str, ...] = ()
    issued_at: int = 0


@dataclass(frozen=True, slots=True)
class GrantedAccess:
    """What the access token of a grant states in addition to its authorization.

    Args:
        audience: another service, or the application of a plugin; ``None``: the REST API.
        tenant_id: the only tenant here; ``None``: all.
        folder_id: likewise the only folder.
        subject: the claim ``sub``; ``None``: the id of the user.
        claims: further claims, of tokens for other services.
    """

    scopes: tuple[str, ...]
    audience: str | None
    tenant_id: str | None
    folder_id: str | None
    subject: str | None = None
    claims: Mapping[str, Any] = field(default_factory=dict)


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
        claims = self._claims(authorization)
        claims |= {"aud": self._issuer, "client_id": CLIENT_ID}
        if authorization.actor_id is not None:
            # An impersonation cannot be renewed, so its only token lasts as long as it does.
            claims |= {"act": {"sub": authorization.actor_id}, "exp": authorization.expires_at // 1000}
        return self._sign(self._keys.ring(), claims), claims["exp"] * 1000

    def issue_granted(self, grant: Authorization, access: GrantedAccess) -> tuple[str, int]:
        """Return a new token of a client's grant (RFC 9068), and its expiry.

        The expiry is in milliseconds since the Unix epoch, and not after the grant's.

        Raises:
            KeyRingError: its audience is another service, and there is no asymmetric key.
            ValueError: a further claim has the name of one that the server sets.
        """
        claims = self._claims(grant)
        claims |= {"client_id": grant.client_id, "scope": " ".join(access.scopes)}
        claims |= _describe_limits(access)
        if access.audience is not None:
            if access.subject is not None:
                claims["sub"] = access.subject
            token = sign_public(
                self._keys.ring(), _TYPE, _united({**claims, "aud": access.audience}, access.claims)
            )
            return token, claims["exp"] * 1000
        claims |= {"aud": [self._issuer]}
        return self._sign(self._keys.ring(), claims), claims["exp"] * 1000

    def _claims(self, authorization: Authorization) -> dict[str, Any]:
        issued_at = self._clock.now() // 1000
        return {
            "iss": self._issuer,
            "sub": authorization.user_id,
            "iat": issued_at,
            "exp": min(issued_at + self.lifetime // 1000, authorization.expires_at // 1000),
            "jti": token_id(authorization.id, authorization.serial),
            "auth_time": authorization.auth_time // 1000,
            "acr": authorization.acr,
            "amr": authorization.amr.split(),
        }

    def _sign(self, ring: KeyRing, claims: dict[str, Any]) -> str:
        return sign_token(ring.signing_key, _TYPE, claims)

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

    def check_foreign(self, token: str, audience: str | None = None) -> TokenClaims:
        """Verify a token of a client's grant whose audience is not the REST API; return its claims.

        Args:
            audience: its audience; ``None``: any.

        Raises:
            TokenInvalid: it was not issued by this server, was altered, has expired, or is for another
                audience.
        """
        try:
            claims = verify_public(self._keys.ring(), token, _TYPE)
            read = _read_claims(claims, self._issuer, is_foreign=True)
        except (ValueError, KeyError, TypeError) as error:
            raise TokenInvalid from error
        if read.expires_at <= self._clock.now() or audience not in (None, claims["aud"]):
            raise TokenInvalid
        return read

    def _verify(self, ring: KeyRing, token: str) -> TokenClaims:
        try:
            claims = read_signed(token, _TYPE, ring.find, max_length=MAX_LENGTH)
            read = _read_claims(claims, self._issuer)
            begins_at = _typed(claims, "nbf", int) * 1000 if "nbf" in claims else 0
        # RecursionError: deeply nested JSON in the header or the claims.
        except (JoseError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise TokenInvalid from error
        if not begins_at <= self._clock.now() < read.expires_at:
            raise TokenInvalid
        return read


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


def _read_claims(claims: dict[str, Any], issuer: str, *, is_foreign: bool = False) -> TokenClaims:
    """Return the claims of a signed token.

    Args:
        is_foreign: whether the audience must be another service, and not this server.

    Raises:
        ValueError, KeyError, TypeError: it is no access token of this server for the audience.
    """
    audience, is_ours = claims["aud"], claims["aud"] in (issuer, [issuer])
    # Other services may trust the same keys, so a token for another audience must be refused.
    if claims["iss"] != issuer or is_ours is is_foreign:
        raise ValueError("another issuer or audience")
    authorization_id, serial = parse_token_id(_typed(claims, "jti", str))
    expires_at, user_id = _typed(claims, "exp", int) * 1000, _typed(claims, "sub", str)
    # A login's token has no scope: without this check, a client's would open all that the user may do.
    if audience == issuer:
        if "scope" in claims:
            raise ValueError("a login's token has no scope")
        return TokenClaims(user_id, authorization_id, serial, expires_at)
    scopes, issued_at = _typed(claims, "scope", str), _typed(claims, "iat", int) * 1000
    limits = _read_limits(claims, authorization_id, scopes)
    return TokenClaims(
        user_id, authorization_id, serial, expires_at, limits, tuple(scopes.split()), issued_at
    )


def _read_limits(claims: dict[str, Any], grant_id: str, text: str) -> GrantLimits:
    tenant_id = folder_id = None
    for detail in _typed(claims, _DETAILS, list) if _DETAILS in claims else ():
        tenant_id = _typed(detail, "tenantId", str)
        if _typed(detail, "type", str) == _FOLDER:
            folder_id = _typed(detail, "fileId", str)
        elif detail["type"] != _TENANT:
            raise ValueError("unknown authorization details")
    scopes = parse_scopes(text)
    return GrantLimits(
        grant_id,
        frozenset(scopes),
        tenant_id,
        folder_id,
        max_permission(scopes),
        client_id=_typed(claims, "client_id", str),
    )


def _united(claims: dict[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Return the claims of a token with further ones.

    Raises:
        ValueError: one of them has the name of one that the server sets, or reads in tokens.
    """
    if not _RESERVED.isdisjoint(more):
        raise ValueError("a claim has the name of one that the server sets")
    return {**more, **claims}


def _describe_limits(access: GrantedAccess) -> dict[str, Any]:
    """Return the claim with the only tenant or folder that a token reaches (RFC 9396), if any."""
    if access.tenant_id is None:
        return {}
    detail = {"type": _TENANT, "tenantId": access.tenant_id}
    if access.folder_id is not None:
        detail |= {"type": _FOLDER, "fileId": access.folder_id}
    return {_DETAILS: [detail]}


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
