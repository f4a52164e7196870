"""Refresh tokens: opaque, stored as keyed hashes, valid for one use (RFC 9700, section 4.14)."""

import re
import secrets
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from strongroom.authorizations.models import refresh_tokens
from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.pruning import prune
from strongroom.database.statements import Statement
from strongroom.secret_keys import SecretKeys

MIN_BITS: Final = 256
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_PURPOSE: Final = "refresh-token"

_ISSUE: Final = Statement(insert(refresh_tokens))
_FORGET: Final = Statement(
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


class RefreshTokens:
    """Issues and spends refresh tokens, within the caller's transaction.

    Args:
        clock: dates the use and the expiry of tokens.
        keys: hashes tokens.
        lifetime: lifetime of an unused token in milliseconds.
    """

    def __init__(self, clock: Clock, keys: SecretKeys, *, lifetime: int) -> None:
        self._clock = clock
        self._keys = keys
        self._lifetime = lifetime

    def issue(self, connection: Connection, authorization_id: str, not_after: int) -> RefreshToken:
        """Issue a token that expires at ``not_after`` at the latest; delete expired tokens.

        ``not_after`` is in milliseconds since the Unix epoch.
        """
        now = self._clock.now()
        _FORGET.change(connection, {"of_authorization": authorization_id, "now": now})
        expires_at = min(now + self._lifetime, not_after)
        token = RefreshToken(secrets.token_urlsafe(MIN_BITS // 8), expires_at)
        row = {
            "hash": self._hash(token.value),
            "authorization_id": authorization_id,
            "created_at": now,
            "expires_at": token.expires_at,
            "used_at": None,
        }
        _ISSUE.change(connection, row)
        return token

    def spend(self, connection: Connection, token: str) -> str | None:
        """Use up a token; return the id of its authorization, or ``None`` if the token is invalid.

        Atomic: of several concurrent calls, in any number of processes, only one gets the id.
        """
        # Reject malformed tokens before hashing, so that garbage costs no query.
        if not _FORM.fullmatch(token):
            return None
        now = self._clock.now()
        # One UPDATE checks and marks the token, so that two concurrent uses cannot both succeed.
        statement = (
            update(refresh_tokens)
            .where(
                refresh_tokens.c.hash == self._hash(token),
                refresh_tokens.c.used_at.is_(None),
                refresh_tokens.c.expires_at > now,
            )
            .values(used_at=now)
            .returning(refresh_tokens.c.authorization_id)
        )
        return connection.execute(statement).scalar_one_or_none()

    def find(self, connection: Connection, token: str, *, spent: bool = False) -> str | None:
        """Return the authorization id of a token; with ``spent``, only if the token was used."""
        if not _FORM.fullmatch(token):
            return None
        query = select(refresh_tokens.c.authorization_id).where(
            refresh_tokens.c.hash == self._hash(token)
        )
        if spent:
            query = query.where(refresh_tokens.c.used_at.is_not(None))
        return connection.execute(query).scalar_one_or_none()

    def prune(self, database: Database) -> int:
        """Delete expired tokens, used or not; return the count."""
        return prune(database, refresh_tokens.c.hash, refresh_tokens.c.expires_at <= self._clock.now())

    def _hash(self, token: str) -> str:
        return self._keys.hash(_PURPOSE, token)
