"""Deletes accounts: hidden from other users immediately, personal data erased after a delay."""

from collections.abc import Callable
from typing import Final

from sqlalchemy import Connection

from strongroom.accounts.reauthentication import FRESH_LOGIN, Proof, ProofFields, Reauthentication
from strongroom.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.errors import LastAdministrator
from strongroom.identity import Identity, Origin
from strongroom.notifications.service import Notices
from strongroom.plugin_api.login import Credential
from strongroom.sessions.service import AuthorizationService
from strongroom.users.credentials import CredentialService
from strongroom.users.models import User, UserStatus, UserType
from strongroom.users.service import UserService
from strongroom.verification.codes import CodeService, Purpose

_DAY: Final = 24 * 60 * 60 * 1000
_BATCH: Final = 500

Guard = Callable[[Connection, str], None]


class AccountDeletion:
    """Deletion of users.

    Tokens and credentials are revoked immediately: the user can no longer log in, and other users may
    register the address. The user's row stays, because files refer to their owner. Its personal data
    are erased later, so that an operator can investigate a mistaken or fraudulent deletion.

    Args:
        database: stores users.
        users: finds and changes users.
        credentials: releases the users' credentials.
        codes: voids codes that were already sent.
        authorizations: revokes the users' logins.
        reauthentication: requires a fresh proof from users who delete themselves.
        notices: notifies users.
        audit: records deletions and erasures.
        erase_after: milliseconds between the deletion and the erasure.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        users: UserService,
        credentials: CredentialService,
        codes: CodeService,
        authorizations: AuthorizationService,
        reauthentication: Reauthentication,
        notices: Notices,
        audit: AuditService,
        *,
        erase_after: int,
    ) -> None:
        self._database = database
        self._clock = clock
        self._users = users
        self._credentials = credentials
        self._codes = codes
        self._authorizations = authorizations
        self._reauthentication = reauthentication
        self._notices = notices
        self._audit = audit
        self._erase_after = erase_after
        self._guards: list[Guard] = []

    def guard(self, guard: Guard) -> None:
        """Register a check that runs before users delete themselves. It raises an error to refuse."""
        self._guards.append(guard)

    def delete(
        self, identity: Identity, user_id: str, proof: Proof, fields: ProofFields, origin: Origin
    ) -> None:
        """Delete a user: the caller, with a fresh proof, or, as an administrator, any user.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
            LastAdministrator: the server, or a tenant with other members, would have no administrator.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        identity.require_self_or_admin(user_id)
        is_self = identity.user_id == user_id
        if is_self:
            # Checked before the proof, which would otherwise be used up in vain.
            with self._database.read() as connection:
                self._require_dispensable(connection, self._users.get(connection, user_id), is_self)
            self._reauthentication.require_any(
                identity, proof, Purpose.UNBIND, login_age=FRESH_LOGIN, fields=fields
            )
        with self._database.write() as connection:
            user = self._users.get(connection, user_id)
            # The same lock order as in a suspension, so that the two cannot deadlock.
            self._authorizations.revoke_all(connection, user_id)
            # Checked again under the lock: two administrators might delete each other concurrently.
            self._users.lock_administrators(connection)
            self._require_dispensable(connection, user, is_self)
            # Read before the credentials are released.
            contacts = self._notices.contacts(connection, user_id)
            self._end(connection, user)
            event = AuditEvent(
                "user.delete",
                actor_id=identity.user_id,
                target_type="user",
                target_id=user_id,
                origin=origin,
            )
            self._audit.record(connection, event)
        languages = origin.languages if is_self else ()
        self._notices.notify(contacts, "user-deleted", (*languages, *filter(None, [user.locale])))

    def erase(self, origin: Origin) -> int:
        """Erase the personal data of users whose retention period has ended; return the count."""
        erased = 0
        while count := self._erase_some(origin):
            erased += count
        return erased

    def _erase_some(self, origin: Origin) -> int:
        before = self._clock.now() - self._erase_after
        with self._database.write() as connection:
            user_ids = self._users.erase(connection, before, limit=_BATCH)
            for user_id in user_ids:
                # Authorizations contain client addresses and user agents.
                self._authorizations.forget(connection, user_id)
                self._credentials.release_all(connection, user_id)
            if user_ids:
                details = {"count": str(len(user_ids))}
                self._audit.record(connection, AuditEvent("user.erase", origin=origin, details=details))
        return len(user_ids)

    def _require_dispensable(self, connection: Connection, user: User, is_self: bool) -> None:
        if user.type == UserType.ADMIN and not self._users.has_other_administrator(connection, user.id):
            raise LastAdministrator("At least one administrator of the server must remain.")
        if is_self:
            for guard in self._guards:
                guard(connection, user.id)

    def _end(self, connection: Connection, user: User) -> None:
        for item in self._credentials.of_user(connection, user.id):
            self._codes.void(connection, Credential(item.kind, item.value))
        self._credentials.release_all(connection, user.id)
        self._users.change(
            connection, user, status=UserStatus.DELETED.value, deleted_at=self._clock.now()
        )
