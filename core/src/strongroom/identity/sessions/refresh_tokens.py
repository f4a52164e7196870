"""Issues refresh tokens and exchanges each for its successor."""

import base64
import re
import secrets
from dataclasses import KW_ONLY, dataclass, field
from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.sessions.models import refresh_tokens

MIN_BITS: Final = 256
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_PURPOSE: Final = "refresh-token"
_SUCCESSOR_PURPOSE: Final = "refresh-token-successor"

_OF_HASH: Final = refresh_tokens.c.hash == bindparam("of_hash")
_TOKEN: Final = Statement(select(refresh_tokens).where(_OF_HASH))
# One UPDATE checks and marks the token, so that two concurrent uses cannot both succeed.
_CONSUME: Final = Statement(
    update(refresh_tokens)
    .where(_OF_HASH, refresh_tokens.c.used_at.is_(None), refresh_tokens.c.expires_at > bindparam("now"))
    .values(used_at=bindparam("now"))
    .returning(refresh_tokens.c.authorization_id)
)
_EXTEND: Final = Statement(
    update(refresh_tokens)
    .where(_OF_HASH, refresh_tokens.c.used_at.is_(None), refresh_tokens.c.expires_at > bindparam("now"))
    .values(expires_at=bindparam("until"))
    .returning(refresh_tokens.c.authorization_id)
)
_ISSUE_REFRESH_TOKEN: Final = Statement(insert(refresh_tokens))
_FORGET_REFRESH_TOKENS: Final = Statement(
    delete(refresh_tokens).where(
        refresh_tokens.c.authorization_id == bindparam("of_authorization"),
        refresh_tokens.c.expires_at <= bindparam("now"),
    )
)


@dataclass(frozen=True, slots=True)
class RefreshToken:
    """A new refresh token. ``expires_at`` is in milliseconds since the Unix epoch."""

    value: str = field(repr=False)
    expires_at: int


@dataclass(slots=True, eq=False, repr=False)
class RefreshTokens:
    """Issues and spends refresh tokens, within the caller's transaction.

    Args:
        lifetime: lifetime of an unused token in milliseconds.
        reuse: milliseconds after its use for which a token may be presented again.
        purpose: what the tokens are for; a token of another purpose is unknown.
    """

    _clock: Clock
    _keys: SecretKeys
    _: KW_ONLY
    lifetime: int
    reuse: int
    purpose: str = _PURPOSE

    def issue(
        self, authorization_id: str, not_after: int, *, after: str | None = None
    ) -> tuple[RefreshToken, Change]:
        """Return a token, and the change that stores it.

        Args:
            not_after: when it expires at the latest, in milliseconds since the Unix epoch.
            after: the token that it succeeds.
        """
        now = self._clock.now()
        expires_at = min(now + self.lifetime, not_after)
        value = self._successor(after) if after else secrets.token_urlsafe(MIN_BITS // 8)
        token = RefreshToken(value, expires_at)
        row = {
            # Only the hash is stored, so a copy of the database contains no usable token.
            "hash": self._hash(token.value),
            "authorization_id": authorization_id,
            "created_at": now,
            "expires_at": token.expires_at,
            "used_at": None,
        }
        return token, Change(_ISSUE_REFRESH_TOKEN, row)

    def forget_expired(self, connection: Connection, authorization_id: str) -> None:
        """Delete the expired tokens of an authorization."""
        expired = {"of_authorization": authorization_id, "now": self._clock.now()}
        _FORGET_REFRESH_TOKENS.execute(connection, expired)

    def consume(self, connection: Connection, token: str) -> str | None:
        """Consume a token; return the id of its authorization, or ``None`` if the token is invalid.

        Atomic: of several concurrent calls, in any number of processes, only one gets the id.
        """
        # Reject malformed tokens before hashing, so that garbage costs no query.
        if not _FORM.fullmatch(token):
            return None
        spent = {"of_hash": self._hash(token), "now": self._clock.now()}
        authorization_id: str | None = _CONSUME.scalar(connection, spent)
        return authorization_id

    def extend(self, connection: Connection, token: str, not_after: int) -> RefreshToken | None:
        """Extend the lifetime of an unused token, which stays; ``None`` if it is invalid.

        Args:
            not_after: when it expires at the latest, in milliseconds since the Unix epoch.
        """
        now = self._clock.now()
        until = min(now + self.lifetime, not_after)
        of_token = {"of_hash": self._hash(token), "now": now, "until": until}
        extended = _FORM.fullmatch(token) and _EXTEND.first(connection, of_token)
        return RefreshToken(token, until) if extended else None

    def find_unused(self, connection: Connection, token: str) -> tuple[str, int] | None:
        """Return the authorization id and the expiry of a token that can be used."""
        if not _FORM.fullmatch(token):
            return None
        row = _TOKEN.first(connection, {"of_hash": self._hash(token)})
        if row is None or row.used_at is not None or row.expires_at <= self._clock.now():
            return None
        return row.authorization_id, row.expires_at

    def find_successor(self, connection: Connection, token: str) -> tuple[str, RefreshToken] | None:
        """Return the unused successor of a token that was used lately, and its authorization's id.

        Browser tabs that refresh at once, and a client that lost the answer, present the same token. All
        get the same successor, so a thief's copy cannot live on in a branch of its own: the second use
        of the successor is noticed as any other token's.
        """
        # A clock that is behind the one that wrote used_at must not open an interval of zero.
        if not (self.reuse and _FORM.fullmatch(token)):
            return None
        now, row = self._clock.now(), _TOKEN.first(connection, {"of_hash": self._hash(token)})
        if row is None or row.used_at is None or row.used_at <= now - self.reuse:
            return None
        value = self._successor(token)
        successor = _TOKEN.first(connection, {"of_hash": self._hash(value)})
        if successor is None or successor.used_at is not None:
            return None
        return successor.authorization_id, RefreshToken(value, successor.expires_at)

    def find(self, connection: Connection, token: str, *, spent: bool = False) -> str | None:
        """Return the authorization id of a token; with ``spent``, only if the token was used."""
        if not _FORM.fullmatch(token):
            return None
        row = _TOKEN.first(connection, {"of_hash": self._hash(token)})
        if row is None or (spent and row.used_at is None):
            return None
        authorization_id: str = row.authorization_id
        return authorization_id

    def prune(self, database: Database) -> int:
        """Delete expired tokens, used or not; return the count."""
        return prune(database, refresh_tokens.c.hash, refresh_tokens.c.expires_at <= self._clock.now())

    def _hash(self, token: str) -> str:
        return self._keys.hash(self.purpose, token)

    def _successor(self, token: str) -> str:
        """Return the token that follows another: a pseudorandom function of it under the server's key.

        Derived instead of stored, because the database has no usable token.
        """
        digest = bytes.fromhex(self._keys.hash(_SUCCESSOR_PURPOSE, token))
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
