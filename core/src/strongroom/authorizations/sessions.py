"""The rows of authorizations, one for each login, within the caller's transaction."""

import logging
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

from strongroom.authorizations.models import Authorization, authorizations
from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.locks import lock_until_commit
from strongroom.database.pruning import prune
from strongroom.database.statements import Statement
from strongroom.errors import StrongroomError, TokenInvalid
from strongroom.ids import new_id
from strongroom.paging import Page, Paging, select_page
from strongroom.plugin_api.login import Client
from strongroom.users.models import User

SEEN_INTERVAL: Final = 60_000
"""Milliseconds by which ``last_seen_at`` may lag behind."""

_LOGINS_LOCK: Final = 0x41555448
_NEVER: Final = 1 << 60

_BY_ID: Final = Statement(select(authorizations).where(authorizations.c.id == bindparam("id")))
_BEGIN: Final = Statement(insert(authorizations))
_EXPIRED: Final = Statement(
    select(authorizations.c.id)
    .where(authorizations.c.expires_at <= bindparam("now"))
    .limit(2)
    .with_for_update(skip_locked=True)
)
# Built once, for every login asks it.
_FORGET: Final = delete(authorizations).where(authorizations.c.id.in_(bindparam("ids", expanding=True)))

logger = logging.getLogger(__name__)


def good_authorization() -> FromClause:
    """Return ``last_seen_at`` and ``user_type`` of a token's authorization, if it was not revoked.

    A part of a query, whose parameters ``authorization_id`` and ``user_id`` are what the token says.
    """
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
    """Return whether nothing has to be written down of an authorization's use."""
    return last_seen_at > now - SEEN_INTERVAL


class AuthorizationStore:
    """Begins, renews and ends authorizations.

    Args:
        clock: the time.
        lifetime: milliseconds that one lives after its tokens were last issued.
        max_age: milliseconds after which one ends, however often it was renewed; ``None``: never.
    """

    def __init__(self, clock: Clock, *, lifetime: int, max_age: int | None = None) -> None:
        self._clock = clock
        self._lifetime = lifetime
        # A number of milliseconds that no clock reaches spares the queries a case.
        self._max_age = max_age if max_age is not None else _NEVER

    def lock_logins_shared(self, connection: Connection, user_id: str) -> None:
        """Let no other transaction end all of a user's authorizations before the caller's ends.

        Without the lock, a login could commit an authorization that a concurrent revocation of all does
        not see: on PostgreSQL, an UPDATE does not see rows that are not committed.
        """
        _lock_logins(connection, user_id, shared=True)

    def begin(self, connection: Connection, user: User, method: str, client: Client) -> Authorization:
        """Make an authorization, and forget up to two that have expired: more than come anew."""
        now = self._clock.now()
        if expired := _EXPIRED.all(connection, {"now": now}):
            connection.execute(_FORGET, {"ids": [expired_id for (expired_id,) in expired]})
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
        _BEGIN.change(connection, row)
        return begun

    def renew(self, connection: Connection, authorization_id: str) -> Authorization:
        """Extend a live authorization, with the next serial, but not beyond its maximal age.

        Raises:
            TokenInvalid: it has expired, was revoked, or is too old.
        """
        now, created_at = self._clock.now(), authorizations.c.created_at
        ends_at, extended = created_at + self._max_age, now + self._lifetime
        statement = (
            update(authorizations)
            .where(authorizations.c.id == authorization_id, self._live(), ends_at > now)
            .values(
                serial=authorizations.c.serial + 1,
                last_seen_at=now,
                expires_at=case((ends_at < extended, ends_at), else_=extended),
            )
            .returning(authorizations)
        )
        row = connection.execute(statement).first()
        if row is None:
            raise TokenInvalid
        return Authorization(*row)

    def find(self, connection: Connection, authorization_id: str) -> Authorization | None:
        """Return an authorization, be it alive or not."""
        row = _BY_ID.first(connection, {"id": authorization_id})
        return None if row is None else Authorization(*row)

    def page(self, connection: Connection, user_id: str, paging: Paging) -> Page[Authorization]:
        """Return a page of a user's live authorizations, the newest first."""
        alive = (authorizations.c.user_id == user_id) & self._live()
        newest_first = (authorizations.c.created_at.desc(), authorizations.c.id.desc())
        query = select(authorizations).where(alive).order_by(*newest_first)
        count = select(func.count()).select_from(authorizations).where(alive)
        return select_page(connection, query, count, paging, lambda row: Authorization(*row))

    def end(self, connection: Connection, authorization_id: str) -> bool:
        """End an authorization; return whether it had not ended before."""
        return self._end(connection, authorizations.c.id == authorization_id) == 1

    def end_all(self, connection: Connection, user_id: str, *, but: str | None = None) -> int:
        """End every authorization of a user, but for one that may be spared; return how many."""
        _lock_logins(connection, user_id)
        wanted = authorizations.c.user_id == user_id
        return self._end(connection, wanted if but is None else wanted & (authorizations.c.id != but))

    def end_every(self, connection: Connection) -> int:
        """End every authorization of every user; return how many."""
        if connection.dialect.name == "postgresql":
            # Waits for logins in progress, whose rows the update would not see.
            connection.execute(text("LOCK TABLE authorizations IN SHARE ROW EXCLUSIVE MODE"))
        return self._end(connection, true())

    def forget(self, connection: Connection, user_id: str) -> None:
        """Delete every authorization of a user, with its tokens."""
        connection.execute(delete(authorizations).where(authorizations.c.user_id == user_id))

    def note_seen(self, database: Database, authorization: Authorization) -> None:
        """Write down that an authorization is in use, if that was last done some time ago.

        It is written in a transaction of its own, and a request never fails by it.
        """
        now = self._clock.now()
        if was_seen_lately(authorization.last_seen_at, now):
            return
        statement = (
            update(authorizations)
            .where(
                authorizations.c.id == authorization.id,
                authorizations.c.last_seen_at <= now - SEEN_INTERVAL,
            )
            .values(last_seen_at=now)
        )
        try:
            with database.write() as connection:
                connection.execute(statement)
        except (StrongroomError, SQLAlchemyError):
            logger.warning("It could not be written down when a login was last seen", exc_info=True)

    def prune(self, database: Database) -> int:
        """Delete the authorizations that have expired, with their tokens, and return how many."""
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


def _lock_logins(connection: Connection, user_id: str, *, shared: bool = False) -> None:
    lock_until_commit(connection, _LOGINS_LOCK, func.hashtext(user_id), shared=shared)
