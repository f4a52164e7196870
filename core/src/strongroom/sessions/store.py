"""Stores authorizations and their refresh tokens."""

import logging
import re
import secrets
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    bindparam,
    case,
    delete,
    func,
    insert,
    select,
    text,
    true,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.changes import Change
from strongroom.database.pruning import AmortizedPruning, prune
from strongroom.database.statements import Statement
from strongroom.errors import StrongroomError, TokenInvalid
from strongroom.identity import Caller
from strongroom.ids import new_id
from strongroom.paging import Page, Paging, select_page
from strongroom.plugin_api.login import Client
from strongroom.secret_keys import SecretKeys
from strongroom.sessions.models import Authorization, authorizations, refresh_tokens
from strongroom.users.models import User
from strongroom.users.service import lock_logins

SEEN_INTERVAL: Final = 60_000
"""Milliseconds by which ``last_seen_at`` may lag."""

_NEVER: Final = 1 << 60

_BY_ID: Final = Statement(select(authorizations).where(authorizations.c.id == bindparam("id")))
_BEGIN: Final = Statement(insert(authorizations))

logger = logging.getLogger(__name__)


def good_authorization() -> FromClause:
    """Return a subquery for ``last_seen_at`` and ``user_type`` of an unrevoked authorization.

    Its parameters ``authorization_id`` and ``user_id`` are the claims of the token.
    """
    # No check of expires_at: the expiry of the access token is at most that of its authorization.
    return (
        select(authorizations.c.last_seen_at, authorizations.c.user_type)
        .where(
            authorizations.c.id == bindparam("authorization_id"),
            authorizations.c.user_id == bindparam("user_id"),
            authorizations.c.revoked_at.is_(None),
        )
        .subquery("authorization")
    )


def was_seen_lately(last_seen_at: int, now: int) -> bool:
    """Return whether ``last_seen_at`` is recent enough not to be updated."""
    return last_seen_at > now - SEEN_INTERVAL


_GOOD: Final = Statement(select(good_authorization()))


class AuthorizationStore:
    """Begins, renews and ends authorizations.

    Args:
        clock: dates logins, refreshes and revocations.
        lifetime: milliseconds after the last refresh for which an authorization is valid.
        max_age: milliseconds after which it ends, even if it is refreshed; ``None``: no limit.
    """

    def __init__(self, clock: Clock, *, lifetime: int, max_age: int | None = None) -> None:
        self._clock = clock
        self._lifetime = lifetime
        # A time that no clock reaches, so that the queries need no special case.
        self._max_age = max_age if max_age is not None else _NEVER
        self._pruning = AmortizedPruning(authorizations.c.id, authorizations.c.expires_at)

    def begin(
        self, connection: Connection, user: User, method: str, client: Client
    ) -> tuple[Authorization, Change]:
        """Return a new authorization and the change that stores it; the caller has locked the logins."""
        now = self._clock.now()
        self._pruning.inserted(connection, now)
        begun = Authorization(
            id=new_id(),
            user_id=user.id,
            user_type=user.type,
            method=method,
            serial=1,
            device_id=client.device_id,
            address=client.address,
            user_agent=client.user_agent,
            created_at=now,
            last_seen_at=now,
            expires_at=now + min(self._lifetime, self._max_age),
            revoked_at=None,
        )
        row = {column: getattr(begun, column) for column in Authorization.__slots__}
        return begun, Change(_BEGIN, row)

    def renew(self, connection: Connection, authorization_id: str) -> Authorization:
        """Extend a valid authorization up to its maximum age, and increment its serial.

        Raises:
            TokenInvalid: it has expired, was revoked, or has reached its maximum age.
        """
        now, created_at = self._clock.now(), authorizations.c.created_at
        ends_at, extended = created_at + self._max_age, now + self._lifetime
        statement = (
            update(authorizations)
            .where(authorizations.c.id == authorization_id, self._live(), ends_at > now)
            .values(
                serial=authorizations.c.serial + 1,
                last_seen_at=now,
                # CASE, because the minimum is LEAST() on PostgreSQL and min() on SQLite.
                expires_at=case((ends_at < extended, ends_at), else_=extended),
            )
            .returning(authorizations)
        )
        row = connection.execute(statement).first()
        if row is None:
            raise TokenInvalid
        return Authorization(*row)

    def find(self, connection: Connection, authorization_id: str) -> Authorization | None:
        """Return an authorization, even if it has expired or was revoked."""
        row = _BY_ID.first(connection, {"id": authorization_id})
        return None if row is None else Authorization(*row)

    def page(self, connection: Connection, user_id: str, paging: Paging) -> Page[Authorization]:
        """Return a page of a user's valid authorizations, newest first."""
        alive = (authorizations.c.user_id == user_id) & self._live()
        newest_first = (authorizations.c.created_at.desc(), authorizations.c.id.desc())
        query = select(authorizations).where(alive).order_by(*newest_first)
        count = select(func.count()).select_from(authorizations).where(alive)
        return select_page(connection, query, count, paging, lambda row: Authorization(*row))

    def end(self, connection: Connection, authorization_id: str) -> bool:
        """Revoke an authorization; return ``False`` if it had been revoked before."""
        return self._end(connection, authorizations.c.id == authorization_id) == 1

    def end_all(self, connection: Connection, user_id: str, *, but: str | None = None) -> int:
        """Revoke all authorizations of a user, except ``but``; return the count."""
        lock_logins(connection, user_id)
        wanted = authorizations.c.user_id == user_id
        return self._end(connection, wanted if but is None else wanted & (authorizations.c.id != but))

    def end_every(self, connection: Connection) -> int:
        """Revoke all authorizations of all users; return the count."""
        if connection.dialect.name == "postgresql":
            # Wait for logins in progress: the UPDATE does not see their uncommitted rows.
            connection.execute(text("LOCK TABLE authorizations IN SHARE ROW EXCLUSIVE MODE"))
        return self._end(connection, true())

    def forget(self, connection: Connection, user_id: str) -> None:
        """Delete all authorizations of a user, with their tokens."""
        connection.execute(delete(authorizations).where(authorizations.c.user_id == user_id))

    def confirm(self, connection: Connection, caller: Caller) -> None:
        """Set the caller's identity if the login is not revoked."""
        claims = {"authorization_id": caller.authorization_id, "user_id": caller.user_id}
        if row := _GOOD.first(connection, claims):
            caller.confirm(*row)

    def note_seen(self, database: Database, authorization_id: str, last_seen_at: int) -> None:
        """Update ``last_seen_at`` if it is older than :data:`SEEN_INTERVAL`.

        Uses a separate transaction. A failure is logged and does not fail the request.
        """
        now = self._clock.now()
        if was_seen_lately(last_seen_at, now):
            return
        statement = (
            update(authorizations)
            .where(
                authorizations.c.id == authorization_id,
                # Checked again: of several parallel requests, only the first one writes.
                authorizations.c.last_seen_at <= now - SEEN_INTERVAL,
            )
            .values(last_seen_at=now)
        )
        try:
            with database.write() as connection:
                connection.execute(statement)
        except (StrongroomError, SQLAlchemyError):
            logger.warning("Cannot record when an authorization was last seen", exc_info=True)

    def prune(self, database: Database) -> int:
        """Delete expired authorizations, with their tokens; return the count."""
        return prune(database, authorizations.c.id, authorizations.c.expires_at <= self._clock.now())

    def _live(self) -> ColumnElement[bool]:
        return authorizations.c.revoked_at.is_(None) & (authorizations.c.expires_at > self._clock.now())

    def _end(self, connection: Connection, which: ColumnElement[bool]) -> int:
        statement = (
            update(authorizations)
            .where(which, authorizations.c.revoked_at.is_(None))
            .values(revoked_at=self._clock.now())
        )
        return connection.execute(statement).rowcount


MIN_BITS: Final = 256
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{43}")
_PURPOSE: Final = "refresh-token"

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

    def issue(self, authorization_id: str, not_after: int) -> tuple[RefreshToken, Change]:
        """Return a token that expires at ``not_after`` at the latest, and the change that stores it.

        ``not_after`` is in milliseconds since the Unix epoch.
        """
        now = self._clock.now()
        expires_at = min(now + self._lifetime, not_after)
        token = RefreshToken(secrets.token_urlsafe(MIN_BITS // 8), expires_at)
        row = {
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
