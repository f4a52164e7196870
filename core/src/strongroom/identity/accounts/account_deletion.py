"""Deletes users, and ends what they have."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import Forbidden
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.accounts.key_rights import require_manageable
from strongroom.identity.accounts.reauthentication import (
    FRESH_LOGIN,
    Proof,
    ProofFields,
    Reauthentication,
)
from strongroom.identity.users.contacts import Contacts, Notices
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import User
from strongroom.identity.users.service import UserService
from strongroom.identity.verification.codes import Purpose
from strongroom.plugin_api.deactivation import DeactivationCause

Guard = Callable[[Connection, str], None]


@dataclass(slots=True, eq=False, repr=False)
class AccountDeletion:
    """Deletion of users.

    Tokens and credentials are revoked immediately: the user can no longer log in, and other users may
    register the address. The user's row stays, because files refer to their owner. ``AccountErasure``
    erases personal data later, so that an operator can investigate a mistaken or fraudulent deletion.
    """

    _database: Database
    _users: UserService
    _credentials: CredentialService
    _deactivations: Deactivations
    _reauthentication: Reauthentication
    _notices: Notices
    _audit: AuditService
    _guards: list[Guard] = field(default_factory=list, init=False)

    def guard(self, guard: Guard) -> None:
        """Register a check that runs before users delete themselves. It raises an error to refuse."""
        self._guards.append(guard)

    def delete(
        self,
        identity: Identity,
        user_id: str,
        proof: Proof,
        fields: ProofFields,
        origin: Origin,
        revision: int | None = None,
    ) -> None:
        """Delete a user: the caller, with a fresh proof, or, as an administrator, any user.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
            LastAdministrator: the server, or a tenant with other members, would have no administrator.
            RevisionConflict: the user has changed since the given revision.
            StrongroomError: as :meth:`Reauthentication.require_any`.
        """
        if identity.user_id != user_id:
            self.delete_other(identity, user_id, origin, revision)
            return
        self.prove(identity, proof, fields)
        with self._database.write() as connection:
            # Checked again, under the lock.
            self.require_unneeded(connection, user_id)
            contacts = self.end(connection, user_id, user_id, origin, revision)
        self.notify(contacts, origin)

    def delete_other(
        self, identity: Identity, user_id: str, origin: Origin, revision: int | None = None
    ) -> None:
        """Delete another user, as an administrator; raises as :meth:`delete`."""
        if not identity.is_admin:
            raise Forbidden
        with self._database.write() as connection:
            require_manageable(identity, self._deactivations.require_dispensable(connection, user_id))
            contacts = self.end(connection, user_id, identity.user_id, origin, revision)
        self.notify(contacts)

    def prove(self, identity: Identity, proof: Proof, fields: ProofFields) -> None:
        """Require a caller who may delete the own account, and a proof; raises as :meth:`delete`."""
        if identity.key is not None:
            raise Forbidden("An access key cannot delete its own user.")
        # Checked before the proof, which would otherwise be consumed in vain.
        with self._database.read() as connection:
            user = self._users.get(connection, identity.user_id)
            self._users.require_other_administrator(connection, user)
            self._check_guards(connection, identity.user_id)
        self._reauthentication.require_any(
            identity, proof, Purpose.UNBIND, login_age=FRESH_LOGIN, fields=fields
        )

    def require_unneeded(self, connection: Connection, user_id: str) -> User:
        """Return a user who may delete the own account, locked until the transaction ends.

        Raises:
            NotFound: there is no such user.
            LastAdministrator: the server, or a tenant with other members, would have no administrator.
        """
        user = self._deactivations.require_dispensable(connection, user_id)
        self._check_guards(connection, user_id)
        return user

    def end(
        self,
        connection: Connection,
        user_id: str,
        actor_id: str,
        origin: Origin,
        revision: int | None = None,
    ) -> Contacts:
        """Delete a user, for callers who have checked that they may; return the contacts of before.

        Raises:
            RevisionConflict: the user has changed since the given revision.
        """
        # Read before the credentials are released.
        contacts = self._notices.contacts(connection, user_id)
        # A credential that is being bound concurrently is released, too.
        self._credentials.lock_user(connection, user_id)
        # Before the release of the contacts, whose codes it voids.
        self._deactivations.deactivate(connection, user_id, DeactivationCause.DELETION)
        self._credentials.release_all(connection, user_id)
        self._users.delete(connection, user_id, revision)
        event = AuditEvent(
            "user.delete", actor_id=actor_id, target_type="user", target_id=user_id, origin=origin
        )
        self._audit.record(connection, event)
        return contacts

    def notify(self, contacts: Contacts, origin: Origin | None = None) -> None:
        """Notify a deleted user, in the languages of the request if the user sent it."""
        self._notices.notify(contacts, "user-deleted", origin.languages if origin else ())

    def _check_guards(self, connection: Connection, user_id: str) -> None:
        for guard in self._guards:
            guard(connection, user_id)
