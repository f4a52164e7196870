"""Creates the first administrator, with a one-time link that the operator issues."""

import secrets
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Column, Connection, Integer, String, Table, and_, bindparam, delete, select

from strongroom.activity.audit.service import FAILURE, AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Timestamp, metadata
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import SetupLinkInvalid
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.accounts.registration import Registration, RegistrationService
from strongroom.identity.users.models import User
from strongroom.identity.users.service import UserService

setup_links: Final = Table(
    "setup_links",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False),
    Column("expires_at", Timestamp, nullable=False),
)
"""At most one row, so that a new link invalidates the previous one."""

_MATCHES: Final = and_(
    setup_links.c.hash == bindparam("of_hash"), setup_links.c.expires_at > bindparam("now")
)
_MATCH: Final = Statement(select(setup_links.c.id).where(_MATCHES))
_CURRENT: Final = Statement(select(setup_links.c.id).where(setup_links.c.expires_at > bindparam("now")))
_CONSUME: Final = Statement(delete(setup_links).where(_MATCHES))
_REPLACE: Final = Statement(
    for_each_dialect(
        setup_links,
        lambda insert: insert.on_conflict_do_update(
            index_elements=[setup_links.c.id],
            set_={"hash": insert.excluded.hash, "expires_at": insert.excluded.expires_at},
        ),
    )
)


LIFETIME: Final = 3_600_000
"""Milliseconds for which a link is valid."""

_ONLY: Final = 1


class AdministratorExists(Exception):
    """There is an administrator already, who can create others."""


@dataclass(frozen=True, slots=True)
class SetupLink:
    """A new setup link. ``expires_at`` is in milliseconds since the Unix epoch."""

    token: str = field(repr=False)
    expires_at: int


@dataclass(slots=True, eq=False, repr=False)
class Setup:
    """Issues and consumes the setup link. The database stores only a keyed hash of its token."""

    _database: Database
    _clock: Clock
    _keys: SecretKeys
    _users: UserService
    _registration: RegistrationService
    _audit: AuditService

    def issue(self, origin: Origin) -> SetupLink:
        """Issue a link. It invalidates the previous one.

        Raises:
            AdministratorExists: there is an administrator already.
        """
        link = SetupLink(secrets.token_urlsafe(32), self._clock.now() + LIFETIME)
        # A fixed id, so that a new link replaces the previous one.
        values = {"id": _ONLY, "hash": self._hash(link.token), "expires_at": link.expires_at}
        with self._database.write() as connection:
            if self._users.has_administrator(connection):
                raise AdministratorExists
            _REPLACE.execute(connection, values)
            self._audit.record(connection, AuditEvent("setup-link.issue", origin=origin))
        return link

    def is_needed(self) -> bool:
        """Return whether the server has no administrator."""
        with self._database.read() as connection:
            return not self._users.has_administrator(connection)

    def is_open(self) -> bool:
        """Return whether there is a link that is neither used nor expired."""
        with self._database.read() as connection:
            link = _CURRENT.scalar(connection, {"now": self._clock.now()})
            return link is not None and not self._users.has_administrator(connection)

    def consume(self, token: str, registration: Registration, origin: Origin) -> User:
        """Consume the link and create the first administrator.

        The link stays valid if the registration fails.

        Raises:
            SetupLinkInvalid: the link is not the latest one, was used, or has expired, or there is an
                administrator already.
            ValidationFailed: a name is malformed or missing, or the password is weak.
            CredentialTaken: another user has one of the names.
            Unavailable: too many hashes are waiting.
        """
        with self._database.read() as connection:
            is_good = self._is_good(connection, token)
        if not is_good:
            self._refuse(origin)
        # Hash the password only after the token is verified, so it cannot be used for CPU exhaustion.
        prepared = self._registration.prepare(registration)
        with self._database.write() as connection:
            is_consumed = self._consume(connection, token)
            # In the same transaction, so that the link stays valid if the registration fails.
            if is_consumed:
                user = self._registration.add(connection, prepared, origin)
        if not is_consumed:
            self._refuse(origin)
        return user

    def prune(self) -> int:
        """Delete the link if it has expired; return the count."""
        old = setup_links.c.expires_at <= self._clock.now()
        return prune(self._database, setup_links.c.id, old)

    def _is_good(self, connection: Connection, token: str) -> bool:
        link = _MATCH.scalar(connection, self._named(token))
        return link is not None and not self._users.has_administrator(connection)

    def _consume(self, connection: Connection, token: str) -> bool:
        """Delete the link; return whether it was valid.

        The DELETE locks the row: a concurrent redemption waits until this transaction ends, and then
        sees its result.
        """
        if _CONSUME.execute(connection, self._named(token)) != 1:
            return False
        return not self._users.has_administrator(connection)

    def _refuse(self, origin: Origin) -> None:
        with self._database.write() as connection:
            self._audit.record(connection, AuditEvent("setup-link.redeem", FAILURE, origin=origin))
        raise SetupLinkInvalid

    def _named(self, token: str) -> dict[str, object]:
        return {"of_hash": self._hash(token), "now": self._clock.now()}

    def _hash(self, token: str) -> str:
        return self._keys.hash("setup-link", token)
