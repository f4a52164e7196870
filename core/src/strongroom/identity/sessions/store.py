"""Stores authorizations."""

import logging
from typing import Any, Final, NamedTuple

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
    update,
)
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.sql.dml import ReturningUpdate

from strongroom.clock import Clock
from strongroom.foundation.caller import Caller, Identity
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.pruning import AmortizedPruning, prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import StrongroomError, TokenInvalid
from strongroom.foundation.ids import new_id
from strongroom.identity.sessions.login_sources import NO_SOURCE, LoginSource
from strongroom.identity.sessions.models import (
    AUTHORIZATION,
    Authorization,
    authorizations,
)
from strongroom.identity.users.models import User
from strongroom.identity.users.service import lock_logins, user_profile
from strongroom.plugin_api.login import SINGLE_FACTOR, Assurance, Client

SEEN_INTERVAL: Final = 60_000
"""Milliseconds by which ``last_seen_at`` may lag."""

_NEVER: Final = 1 << 60

_OF_ID: Final = authorizations.c.id == bindparam("of_id")
_OF_USER: Final = authorizations.c.user_id == bindparam("of_user")
_LIVE: Final = authorizations.c.revoked_at.is_(None) & (authorizations.c.expires_at > bindparam("now"))


def _renewal() -> ReturningUpdate[Any]:
    ends_at = authorizations.c.created_at + bindparam("max_age")
    extended = bindparam("extended", type_=authorizations.c.expires_at.type)
    return (
        update(authorizations)
        .where(_OF_ID, _LIVE, ends_at > bindparam("now"))
        .values(
            serial=authorizations.c.serial + 1,
            last_seen_at=bindparam("now"),
            # CASE, because the minimum is LEAST() on PostgreSQL and min() on SQLite.
            expires_at=case((ends_at < extended, ends_at), else_=extended),
        )
        .returning(authorizations)
    )


def _revocation(*which: ColumnElement[bool]) -> Statement[Any]:
    revoked = update(authorizations).values(revoked_at=bindparam("now"))
    return Statement(revoked.where(*which, authorizations.c.revoked_at.is_(None)))


_BY_ID: Final = Statement(select(authorizations).where(_OF_ID), AUTHORIZATION)
_BEGIN: Final = Statement(insert(authorizations))
_RENEW: Final = Statement(_renewal(), AUTHORIZATION)
_STRENGTHEN: Final = Statement(
    update(authorizations)
    .where(_OF_ID, _LIVE)
    .values(
        serial=authorizations.c.serial + 1,
        amr=bindparam("new_amr"),
        acr=bindparam("new_acr"),
        auth_time=bindparam("now"),
    )
    .returning(authorizations),
    AUTHORIZATION,
)
_WEAKEN: Final = Statement(
    update(authorizations)
    .where(_OF_USER, authorizations.c.acr != SINGLE_FACTOR)
    .values(acr=SINGLE_FACTOR, amr=func.replace(authorizations.c.amr, " mfa", ""))
)
_END: Final = _revocation(_OF_ID)
_END_WITH: Final = _revocation(authorizations.c.ends_with_id == bindparam("of_login"))
_END_ALL: Final = _revocation(_OF_USER)
_END_OTHERS: Final = _revocation(_OF_USER, authorizations.c.id != bindparam("but"))
_END_OF_ACTOR: Final = _revocation(authorizations.c.actor_id == bindparam("of_actor"))
_END_EVERY: Final = _revocation()
_UNREVOKED: Final = select(authorizations).where(authorizations.c.revoked_at.is_(None))
_BY_CREDENTIAL: Final = Statement(
    _UNREVOKED.where(authorizations.c.credential_hash == bindparam("of")), AUTHORIZATION
)
_BY_USER: Final = Statement(_UNREVOKED.where(_OF_USER), AUTHORIZATION)
_BY_SESSION: Final = Statement(
    _UNREVOKED.where(authorizations.c.upstream_session == bindparam("of")), AUTHORIZATION
)
_LOCK_LIVE: Final = Statement(
    select(authorizations).where(_OF_ID, _LIVE).with_for_update(), AUTHORIZATION
)
_LOCK_EVERY: Final = Statement(text("LOCK TABLE authorizations IN SHARE ROW EXCLUSIVE MODE"))
_FORGET: Final = Statement(delete(authorizations).where(_OF_USER))
# The condition is checked again: of several parallel requests, only the first one writes.
# A row that is locked is skipped: a read must not wait for a commit that waits for a standby.
_SEEN_BEFORE: Final = (
    select(authorizations.c.id)
    .where(_OF_ID, authorizations.c.last_seen_at <= bindparam("before"))
    .with_for_update(skip_locked=True)
)
_NOTE_SEEN: Final = Statement(
    update(authorizations)
    .where(authorizations.c.id.in_(_SEEN_BEFORE))
    .values(last_seen_at=bindparam("now"))
)

logger = logging.getLogger(__name__)


def good_authorization() -> FromClause:
    """Return a subquery for the columns of an unrevoked authorization that decide about a request.

    They are the arguments of :meth:`Caller.confirm`. Its parameters ``authorization_id`` and ``user_id``
    are the claims of the token.
    """
    # No check of expires_at: an access token expires at the latest with its authorization.
    return (
        select(
            authorizations.c.last_seen_at,
            authorizations.c.user_type,
            authorizations.c.acr,
            authorizations.c.auth_time,
            authorizations.c.actor_id,
            authorizations.c.expires_at,
        )
        .where(
            authorizations.c.id == bindparam("authorization_id"),
            authorizations.c.user_id == bindparam("user_id"),
            authorizations.c.revoked_at.is_(None),
        )
        .subquery("authorization")
    )


def good_grant(grant_id: str) -> FromClause:
    """Return a subquery for the columns of an unrevoked client's grant that limit what it has given.

    Its parameters are ``user_id`` and the one that ``grant_id`` names.
    """
    return (
        select(authorizations.c.expires_at, authorizations.c.folder_id)
        .where(
            authorizations.c.id == bindparam(grant_id),
            authorizations.c.user_id == bindparam("user_id"),
            authorizations.c.client_id.is_not(None),
            authorizations.c.revoked_at.is_(None),
        )
        .subquery("client_grant")
    )


def was_seen_lately(last_seen_at: int, now: int) -> bool:
    """Return whether ``last_seen_at`` is recent enough not to be updated."""
    return last_seen_at > now - SEEN_INTERVAL


_GOOD: Final = Statement(select(good_authorization()))
_GOOD_OF_PROFILE: Final = Statement(lambda _: select(good_authorization(), user_profile()), tuple)


class UserProfile(NamedTuple):
    """What pages show of the user of a login.

    Args:
        name: the name; empty without one.
        zone: the name of the time zone that the user has chosen.
        contact: the address, the number or the username; empty without one.
    """

    name: str
    zone: str | None
    contact: str


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
        self,
        connection: Connection,
        user: User,
        method: str,
        assurance: Assurance,
        client: Client,
        source: LoginSource = NO_SOURCE,
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
            amr=" ".join(assurance.amr),
            acr=assurance.acr,
            auth_time=now,
            credential_hash=source.credential_hash,
            upstream_session=source.upstream_session,
        )
        return begun, Change(_BEGIN, AUTHORIZATION.values(begun))

    def add(self, connection: Connection, authorization: Authorization) -> None:
        """Store a new authorization."""
        _BEGIN.execute(connection, AUTHORIZATION.values(authorization))

    def renew(self, connection: Connection, authorization_id: str) -> Authorization:
        """Extend a valid authorization up to its maximum age, and increment its serial.

        Raises:
            TokenInvalid: it has expired, was revoked, or has reached its maximum age.
        """
        now = self._clock.now()
        limits = {"now": now, "max_age": self._max_age, "extended": now + self._lifetime}
        renewed = _RENEW.first(connection, {"of_id": authorization_id, **limits})
        if renewed is None:
            raise TokenInvalid
        return renewed

    def strengthen(
        self, connection: Connection, authorization_id: str, proven: Assurance
    ) -> Authorization:
        """Record that a valid authorization was proven again, and increment its serial.

        Raises:
            TokenInvalid: it has expired or was revoked.
        """
        values = {"new_amr": " ".join(proven.amr), "new_acr": proven.acr, "now": self._clock.now()}
        strengthened = _STRENGTHEN.first(connection, {"of_id": authorization_id, **values})
        if strengthened is None:
            raise TokenInvalid
        return strengthened

    def require_live(self, connection: Connection, authorization_id: str, user_id: str) -> None:
        """Require that an authorization of a user was not revoked.

        Raises:
            TokenInvalid: it was.
        """
        named = {"authorization_id": authorization_id, "user_id": user_id}
        if _GOOD.first(connection, named) is None:
            raise TokenInvalid

    def weaken(self, connection: Connection, user_id: str) -> None:
        """Record that the logins of a user prove one factor only: the second one was removed."""
        # Waits for logins in progress: the UPDATE does not see their uncommitted rows.
        lock_logins(connection, user_id)
        _WEAKEN.execute(connection, {"of_user": user_id})

    def find(self, connection: Connection, authorization_id: str) -> Authorization | None:
        """Return an authorization, even if it has expired or was revoked."""
        return _BY_ID.first(connection, {"of_id": authorization_id})

    def lock(self, connection: Connection, authorization_id: str) -> Authorization | None:
        """Return an authorization that is in force, and block its end until the transaction ends."""
        of_login = {"of_id": authorization_id, "now": self._clock.now()}
        return _LOCK_LIVE.first(connection, of_login)

    def page(self, connection: Connection, user_id: str, paging: Paging) -> Page[Authorization]:
        """Return a page of a user's valid authorizations, newest first."""
        parameters = {"of_user": user_id, "now": self._clock.now()}
        alive = _OF_USER & _LIVE
        newest_first = (authorizations.c.created_at.desc(), authorizations.c.id.desc())
        query = select(authorizations).where(alive).order_by(*newest_first).params(parameters)
        count = select(func.count()).select_from(authorizations).where(alive).params(parameters)
        return select_page(connection, query, count, paging, AUTHORIZATION)

    def end(self, connection: Connection, authorization_id: str) -> bool:
        """Revoke an authorization; return ``False`` if it had been revoked before.

        The clients' grants that end with a login are revoked, too.
        """
        now = self._clock.now()
        if _END.execute(connection, {"of_id": authorization_id, "now": now}) == 0:
            return False
        # After the login: a grant that is begun meanwhile holds the lock of the login's row.
        _END_WITH.execute(connection, {"of_login": authorization_id, "now": now})
        return True

    def end_all(self, connection: Connection, user_id: str, *, but: str | None = None) -> int:
        """Revoke all authorizations of a user, except ``but``; return the count.

        The impersonations that the user has begun are revoked, too.
        """
        # Waits for logins in progress: the UPDATE does not see their uncommitted rows.
        lock_logins(connection, user_id)
        self.end_impersonations(connection, user_id)
        ended = {"of_user": user_id, "but": but, "now": self._clock.now()}
        return (_END_ALL if but is None else _END_OTHERS).execute(connection, ended)

    def made_with(self, connection: Connection, source: LoginSource) -> list[Authorization]:
        """Return the unrevoked authorizations of a source; a member that is ``None`` is any."""
        session, of_credential = source.upstream_session, {"of": source.credential_hash}
        if source.credential_hash is None:
            return _BY_SESSION.all(connection, {"of": session})
        logins: list[Authorization] = _BY_CREDENTIAL.all(connection, of_credential)
        return [login for login in logins if session in (None, login.upstream_session)]

    def unrevoked(self, connection: Connection, user_id: str) -> list[Authorization]:
        """Return the unrevoked authorizations of a user, also those that have expired."""
        return _BY_USER.all(connection, {"of_user": user_id})

    def end_impersonations(self, connection: Connection, actor_id: str) -> None:
        """Revoke the authorizations by which an administrator acts as other users."""
        _END_OF_ACTOR.execute(connection, {"of_actor": actor_id, "now": self._clock.now()})

    def end_every(self, connection: Connection) -> int:
        """Revoke all authorizations of all users; return the count."""
        if connection.dialect.name == "postgresql":
            # Wait for logins in progress: the UPDATE does not see their uncommitted rows.
            _LOCK_EVERY.execute(connection)
        return _END_EVERY.execute(connection, {"now": self._clock.now()})

    def forget(self, connection: Connection, user_id: str) -> None:
        """Delete all authorizations of a user, with their tokens."""
        _FORGET.execute(connection, {"of_user": user_id})

    def confirm(self, connection: Connection, caller: Caller) -> None:
        """Set the caller's identity if the login is not revoked."""
        claims = {"authorization_id": caller.authorization_id, "user_id": caller.user_id}
        if row := _GOOD.first(connection, claims):
            caller.confirm(*row)

    def confirm_user(self, connection: Connection, caller: Caller) -> tuple[Identity, UserProfile]:
        """Set the caller's identity, and return it with the profile of the user.

        Raises:
            TokenInvalid: the login was revoked.
        """
        claims = {"authorization_id": caller.authorization_id, "user_id": caller.user_id}
        row = _GOOD_OF_PROFILE.first(connection, claims)
        if row is None:
            raise TokenInvalid
        *login, name, zone, contact = row
        return caller.confirm(*login), UserProfile(name, zone, contact or "")

    def note_seen(self, database: Database, authorization_id: str, last_seen_at: int) -> None:
        """Update ``last_seen_at`` if it is older than :data:`SEEN_INTERVAL`.

        Uses a separate transaction. A failure is logged and does not fail the request.
        """
        now = self._clock.now()
        if was_seen_lately(last_seen_at, now):
            return
        seen = {"of_id": authorization_id, "before": now - SEEN_INTERVAL, "now": now}
        try:
            # Non-durable: what a power failure loses, the next request records again.
            with database.write(durable=False) as connection:
                _NOTE_SEEN.execute(connection, seen)
        except (StrongroomError, SQLAlchemyError):
            logger.warning("Cannot record when an authorization was last seen", exc_info=True)

    def prune(self, database: Database) -> int:
        """Delete expired authorizations, with their tokens; return the count."""
        return prune(database, authorizations.c.id, authorizations.c.expires_at <= self._clock.now())
