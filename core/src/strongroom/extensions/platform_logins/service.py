"""Lists, ends and suspends by the credentials of a platform, for plugins that log in its people."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, and_, bindparam, exists, or_, select

from strongroom.clock import Clock
from strongroom.content.tenants.models import tenant_members
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import LastAdministrator
from strongroom.identity.access_keys.models import access_keys
from strongroom.identity.accounts.suspension import PLATFORM, Suspension, Suspensions
from strongroom.identity.sessions.login_sources import LoginSource, LoginSources
from strongroom.identity.sessions.models import authorizations
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import EMAIL, UserStatus, UserType, credentials, users
from strongroom.plugin_api.contacts import wire_address
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.logins import LiveCredential

logger = logging.getLogger(__name__)


def _has_live_access() -> ColumnElement[bool]:
    now = bindparam("now", type_=authorizations.c.expires_at.type)
    login = exists().where(
        authorizations.c.user_id == users.c.id,
        authorizations.c.revoked_at.is_(None),
        authorizations.c.expires_at > now,
    )
    key = exists().where(access_keys.c.user_id == users.c.id, access_keys.c.expires_at > now)
    return or_(login, key)


_LIVE: Final = Statement(
    select(credentials.c.value, users.c.id)
    .join(users, users.c.id == credentials.c.user_id)
    .where(
        credentials.c.kind == bindparam("of_kind"),
        credentials.c.value > bindparam("after"),
        users.c.status == UserStatus.ACTIVE.value,
        _has_live_access(),
    )
    .order_by(credentials.c.value)
    .limit(bindparam("size"))
)

_MEMBERS: Final = 200
"""Credentials of members that one transaction reads."""
_of_members = (
    select(tenant_members.c.user_id, credentials.c.kind, credentials.c.value)
    .join(credentials, credentials.c.user_id == tenant_members.c.user_id)
    .join(users, users.c.id == tenant_members.c.user_id)
    .where(
        tenant_members.c.tenant_id == bindparam("of_tenant"),
        or_(
            and_(credentials.c.kind == EMAIL, credentials.c.is_verified),
            credentials.c.kind == bindparam("of_kind"),
        ),
        users.c.type != UserType.ADMIN.value,
    )
    .order_by(tenant_members.c.user_id, credentials.c.kind, credentials.c.value)
)
_HELD: Final = Statement(
    _of_members.where(tenant_members.c.user_id > bindparam("after")).limit(bindparam("size"))
)
_HELD_BY_ONE: Final = Statement(_of_members.where(tenant_members.c.user_id == bindparam("of_user")))


@dataclass(frozen=True, slots=True)
class ChosenMembers:
    """Members of a tenant by their credentials.

    Args:
        domains: of their verified e-mail addresses; A-labels in lowercase.
        kind: of other credentials, each of which is enough; empty: no others.
        prefix: the beginning of the values of these credentials.
    """

    domains: frozenset[str]
    kind: str = ""
    prefix: str = ""

    def matches(self, kind: str, value: str) -> bool:
        """Return whether a credential is one of a chosen member."""
        if kind == EMAIL:
            return _wire_domain(value) in self.domains
        return kind == self.kind and value.startswith(self.prefix)


@dataclass(slots=True, eq=False, repr=False)
class PlatformLogins:
    """The logins by the credentials of platforms."""

    _database: Database
    _clock: Clock
    _credentials: CredentialService
    _logins: AuthorizationService
    _suspensions: Suspensions
    _sources: LoginSources

    def credentials(self, kind: str, after: str, size: int) -> Sequence[LiveCredential]:
        """Return the credentials of a kind behind a value whose users can act, ordered by value."""
        parameters = {"of_kind": kind, "after": after, "size": size, "now": self._clock.now()}
        with self._database.read() as connection:
            rows = _LIVE.all(connection, parameters)
        return [LiveCredential(Credential(kind, value), user_id) for value, user_id in rows]

    def end(self, credential: Credential, session: str | None, origin: Origin) -> int:
        """Revoke the logins that were made with a credential, or with it in one session."""
        source = LoginSource(self._sources.hash(credential), session)
        with self._database.write() as connection:
            holders = self._credentials.find_users(connection, [credential])
            return self._logins.end_made_with(connection, source, holders.values(), origin)

    def end_session(self, method: str, session: str, origin: Origin) -> int:
        """Revoke the logins of a method in one session of its platform."""
        source = LoginSource(None, session)
        with self._database.write() as connection:
            return self._logins.end_made_with(connection, source, (), origin, method=method)

    def end_of_members(
        self,
        tenant_id: str,
        chosen: ChosenMembers,
        but_method: str,
        but: Collection[str],
        origin: Origin,
    ) -> int:
        """Revoke the logins of chosen members that other methods have made."""
        count, after = 0, ""
        parameters = {"of_tenant": tenant_id, "of_kind": chosen.kind}
        while True:
            with self._database.write() as connection:
                rows = _HELD.all(connection, {**parameters, "after": after, "size": _MEMBERS})
                count += self._end_chosen(connection, rows, chosen, but_method, but, origin)
            if len(rows) < _MEMBERS:
                return count
            # Some credentials of the last user may be on the next page.
            after = rows[-1][0] if rows[0][0] == rows[-1][0] else _before_last(rows)

    def end_of_member(
        self, tenant_id: str, user_id: str, chosen: ChosenMembers, but_method: str, origin: Origin
    ) -> int:
        """Revoke the logins of a member that other methods have made, if the member is chosen."""
        parameters = {"of_tenant": tenant_id, "of_kind": chosen.kind, "of_user": user_id}
        with self._database.write() as connection:
            rows = _HELD_BY_ONE.all(connection, parameters)
            return self._end_chosen(connection, rows, chosen, but_method, (), origin)

    def _end_chosen(
        self,
        connection: Connection,
        rows: Sequence[Any],
        chosen: ChosenMembers,
        but_method: str,
        but: Collection[str],
        origin: Origin,
    ) -> int:
        user_ids = {user_id for user_id, kind, value in rows if chosen.matches(kind, value)} - {*but}
        end = self._logins.end_made_otherwise
        return sum(end(connection, user_id, but_method, origin) for user_id in sorted(user_ids))

    def suspend(self, credential: Credential, reason: str, origin: Origin) -> bool:
        """Suspend the active user who holds a credential, if the account came with it.

        Of any other user, end the logins by the credential: the platform does not decide about the rest.
        Return whether something has ended.
        """
        try:
            with self._database.write() as connection:
                user_id = self._credentials.find_users(connection, [credential]).get(credential)
                if user_id is None:
                    return False
                if not self._came_with(connection, user_id, credential):
                    source = LoginSource(self._sources.hash(credential), None)
                    return bool(self._logins.end_made_with(connection, source, [user_id], origin))
                if not self._suspensions.begin_unasked(
                    connection, user_id, Suspension(reason), PLATFORM, origin
                ):
                    return False
        except LastAdministrator:
            logger.warning("The last administrator has left a platform, and is not suspended")
            return False
        self._suspensions.notify(user_id)
        return True

    def _came_with(self, connection: Connection, user_id: str, credential: Credential) -> bool:
        """Return whether a user was created with a credential, instead of connecting it later."""
        held = self._credentials.of_user(connection, user_id)
        return any(row.is_origin and row.credential == credential for row in held)


def _wire_domain(address: str) -> str:
    """Return the domain of an address as A-labels in lowercase."""
    return wire_address(f"x@{address.rpartition('@')[2]}").rpartition("@")[2].lower()


def _before_last(rows: Sequence[tuple[str, str, str]]) -> str:
    """Return the last user whose credentials are all among the rows."""
    last = rows[-1][0]
    return max(user_id for user_id, _, _ in rows if user_id != last)
