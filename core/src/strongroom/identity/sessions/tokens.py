"""Signs and verifies access tokens, and issues them with refresh tokens."""

from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeVar

from joserfc import jws, jwt
from joserfc.errors import JoseError
from sqlalchemy import Connection

from strongroom.clock import Clock
from strongroom.foundation.assurance import is_as_strong
from strongroom.foundation.cache import Cache
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.errors import InvalidCredentials, StepUpRequired, TokenInvalid
from strongroom.foundation.ids import is_id
from strongroom.identity.sessions.login_sources import LoginSource
from strongroom.identity.sessions.models import Authorization
from strongroom.identity.sessions.signing_keys import KeyFile, KeyRing
from strongroom.identity.sessions.store import AuthorizationStore, RefreshToken, RefreshTokens
from strongroom.identity.users.accounts import Account, find_account
from strongroom.identity.users.factor_policy import FactorPolicy
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.suspension_ends import SuspensionEnds
from strongroom.plugin_api.login import MULTI_FACTOR, Assurance, Client

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
    # The header's "alg" is not trusted: only the configured algorithm is accepted below.
    key = ring.find(header["kid"])
    if key is None:
        raise ValueError("unknown key")
    return jwt.decode(token, key, algorithms=[ring.algorithm]).claims


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


@dataclass(frozen=True, slots=True)
class IssuedTokens:
    """The result of a login or refresh. Times are in milliseconds since the Unix epoch."""

    access_token: str = field(repr=False)
    expires_at: int
    refresh_token: str = field(repr=False)
    refresh_expires_at: int
    user: User
    authorization_id: str


@dataclass(frozen=True, slots=True)
class GraceTokens(IssuedTokens):
    """Tokens of a user who must have a second factor, and has none yet.

    Args:
        factor_due_at: until when the user may log in without one, in milliseconds since the Unix epoch.
    """

    factor_due_at: int

    @classmethod
    def from_issued(cls, issued: IssuedTokens, factor_due_at: int | None) -> IssuedTokens:
        """Return the tokens with the end of the grace period, if there is one."""
        if factor_due_at is None:
            return issued
        values = {item.name: getattr(issued, item.name) for item in fields(issued)}
        return cls(**values, factor_due_at=factor_due_at)


@dataclass(slots=True, eq=False, repr=False)
class TokenIssuer:
    """Issues the tokens of authorizations, within the caller's transaction.

    Args:
        policy: which users must have a second factor.
    """

    _sessions: AuthorizationStore
    _signer: TokenSigner
    _refresh_tokens: RefreshTokens
    _clock: Clock
    _policy: FactorPolicy
    _suspension_ends: SuspensionEnds

    def require_allowed(self, connection: Connection, user: User) -> User:
        """Return the user, who may log in; a suspension that is over ends.

        Raises:
            InvalidCredentials: the user is a service account.
            UserSuspended: the user is suspended.
        """
        user = self._suspension_ends.apply(connection, user)
        _require_login_allowed(user)
        return user

    def begin(
        self,
        connection: Connection,
        user: User,
        method: str,
        assurance: Assurance,
        client: Client,
        source: LoginSource,
    ) -> tuple[IssuedTokens, list[Change]]:
        """Begin an authorization; return its first tokens, and the changes that store them.

        Args:
            connection: the transaction, which has locked the user's logins.
            user: the user, as :meth:`require_allowed` has returned it under that lock.
            assurance: how strongly the login is proven.
            client: the client that logs in.
            source: what the login is made with.

        Raises:
            UserSuspended: the user is suspended.
        """
        _require_login_allowed(user)
        begun, begin = self._sessions.begin(connection, user, method, assurance, client, source)
        issued, issue = self._issue(begun, user)
        return issued, [begin, issue]

    def renew(
        self,
        connection: Connection,
        authorization_id: str,
        used: str,
        successor: RefreshToken | None = None,
    ) -> IssuedTokens:
        """Issue the next tokens of an authorization.

        Args:
            used: the refresh token that was presented.
            successor: the refresh token that it was exchanged for before.

        Raises:
            TokenInvalid: it has expired or was revoked.
            InvalidCredentials: the user was deleted.
            UserSuspended: the user is suspended.
            StepUpRequired: the login has proven one factor, and the user has or must have a second one.
        """
        renewed, user, due_at = self._renewed(connection, authorization_id)
        self._refresh_tokens.forget_expired(connection, authorization_id)
        if successor is None:
            successor, issue = self._refresh_tokens.issue(renewed.id, renewed.expires_at, after=used)
            execute_together(connection, [issue])
        return GraceTokens.from_issued(self._issued(renewed, user, successor), due_at)

    def renew_access(
        self, connection: Connection, authorization_id: str
    ) -> tuple[User, tuple[str, int]]:
        """Issue the next access token of an authorization, with its expiry, and no refresh token.

        Raises: the same as :meth:`renew`.
        """
        renewed, user, _ = self._renewed(connection, authorization_id)
        return user, self._signer.issue(renewed)

    def _renewed(
        self, connection: Connection, authorization_id: str
    ) -> tuple[Authorization, User, int | None]:
        renewed = self._sessions.renew(connection, authorization_id)
        account = find_account(connection, renewed.user_id)
        if account is None:
            raise InvalidCredentials
        _require_login_allowed(account.user)
        return renewed, account.user, self._require_factor(connection, renewed, account)

    def _require_factor(
        self, connection: Connection, login: Authorization, account: Account
    ) -> int | None:
        """Require a second factor of a login that began without one, as a new login would.

        Returns the end of the grace period, if it is not over.
        """
        if is_as_strong(login.acr, MULTI_FACTOR):
            return None
        due_at = None
        if not account.has_second_factor:
            due_at = self._policy.due_at(connection, account.user)
        if account.has_second_factor or (due_at is not None and due_at <= self._clock.now()):
            raise StepUpRequired(MULTI_FACTOR, None)
        return due_at

    def _issue(self, authorization: Authorization, user: User) -> tuple[IssuedTokens, Change]:
        refresh_token, issue = self._refresh_tokens.issue(authorization.id, authorization.expires_at)
        return self._issued(authorization, user, refresh_token), issue

    def _issued(
        self, authorization: Authorization, user: User, refresh_token: RefreshToken
    ) -> IssuedTokens:
        access_token, expires_at = self._signer.issue(authorization)
        return IssuedTokens(
            access_token=access_token,
            expires_at=expires_at,
            refresh_token=refresh_token.value,
            refresh_expires_at=refresh_token.expires_at,
            user=user,
            authorization_id=authorization.id,
        )


def _require_login_allowed(user: User) -> None:
    # Whatever a login method has found out: a service account acts by its access keys only.
    if user.type == UserType.SERVICE:
        raise InvalidCredentials
    user.require_active()
