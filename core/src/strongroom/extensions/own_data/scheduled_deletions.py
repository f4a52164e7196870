"""Deletes users who asked for it once the time is over in which they can cancel it."""

import logging
from dataclasses import KW_ONLY, dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import LastAdministrator, NotFound
from strongroom.identity.accounts.account_deletion import AccountDeletion
from strongroom.identity.accounts.reauthentication import Proof, ProofFields
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users import deletion_times
from strongroom.identity.users.contacts import Contacts, Notices
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.times import named_moment

BY_USER: Final = "user"
LAST_ADMINISTRATOR: Final = "last-administrator"
"""Who or what cancelled a deletion: its user, or that the user has become the last administrator."""

logger = logging.getLogger(__name__)


@dataclass(slots=True, eq=False, repr=False)
class ScheduledDeletions:
    """Deletions that users can cancel.

    Args:
        grace: milliseconds between the request and the deletion; 0: it is done at once.
    """

    _database: Database
    _clock: Clock
    _users: UserService
    _deletion: AccountDeletion
    _authorizations: AuthorizationService
    _notices: Notices
    _audit: AuditService
    _: KW_ONLY
    grace: int

    def schedule(
        self, identity: Identity, user_id: str, proof: Proof, fields: ProofFields, origin: Origin
    ) -> int:
        """Schedule the deletion of the caller, and end the caller's other logins.

        Returns:
            when it is due, in milliseconds since the Unix epoch. A second request does not postpone it.

        Raises:
            Forbidden: the caller is another user, or has an access key.
            StrongroomError: as :meth:`AccountDeletion.delete`.
        """
        identity.require_self(user_id)
        if not self.grace:
            self._deletion.delete(identity, user_id, proof, fields, origin)
            return self._clock.now()
        self._deletion.prove(identity, proof, fields)
        with self._database.write() as connection:
            user = self._deletion.require_unneeded(connection, user_id)
            if user.deletion_due_at is not None:
                return user.deletion_due_at
            due_at = self._clock.now() + self.grace
            self._users.change(connection, user_id, deletion_due_at=due_at)
            self._authorizations.revoke_all(connection, user_id, but=identity.authorization_id)
            self._record(connection, "user.schedule-deletion", user_id, origin, dueAt=iso_format(due_at))
            contacts = self._notices.contacts(connection, user_id)
        parameters = {"time": named_moment(due_at, contacts.zone)}
        self._notices.notify(contacts, "deletion-scheduled", origin.languages, parameters, origin=origin)
        return due_at

    def due_at(self, identity: Identity, user_id: str) -> int:
        """Return when the deletion of the caller is due, in milliseconds since the Unix epoch.

        Raises:
            Forbidden: the caller is another user.
            NotFound: none is scheduled.
        """
        identity.require_self(user_id)
        with self._database.read() as connection:
            due_at = self._users.get(connection, user_id).deletion_due_at
        if due_at is None:
            raise NotFound
        return due_at

    def cancel(self, identity: Identity, user_id: str, origin: Origin) -> None:
        """Cancel the deletion of the caller; raises as :meth:`due_at`."""
        identity.require_self(user_id)
        with self._database.write() as connection:
            if not deletion_times.clear_time(connection, user_id):
                raise NotFound
            contacts = self._cancel(connection, user_id, BY_USER, origin)
        self._notices.notify(contacts, "deletion-cancelled", origin.languages, origin=origin)

    def delete_due(self) -> int:
        """Delete the users whose time to cancel is over; return their number."""
        with self._database.read() as connection:
            user_ids = deletion_times.due_users(connection, self._clock.now())
        return sum(map(self._try_to_delete, user_ids))

    def _try_to_delete(self, user_id: str) -> bool:
        try:
            return self._delete(user_id)
        except NotFound:
            return False
        except LastAdministrator:
            self._refuse(user_id)
        except Exception:
            # The others are deleted nevertheless, and this one is tried again at the next run.
            logger.exception("Cannot delete the user %s, who asked for it", user_id)
        return False

    def _delete(self, user_id: str) -> bool:
        origin = Origin()
        with self._database.write() as connection:
            # In the order of all deletions: logins and administrators are locked before the user.
            self._deletion.require_unneeded(connection, user_id)
            if not self._claim(connection, user_id):
                return False
            contacts = self._deletion.end(connection, user_id, user_id, origin)
        self._deletion.notify(contacts)
        return True

    def _refuse(self, user_id: str) -> None:
        with self._database.write() as connection:
            if not self._claim(connection, user_id):
                return
            contacts = self._cancel(connection, user_id, LAST_ADMINISTRATOR, Origin())
        self._notices.notify(contacts, "deletion-refused")

    def _claim(self, connection: Connection, user_id: str) -> bool:
        return deletion_times.claim_due(connection, user_id, self._clock.now())

    def _cancel(self, connection: Connection, user_id: str, cause: str, origin: Origin) -> Contacts:
        self._users.change(connection, user_id, deletion_due_at=None)
        self._record(connection, "user.cancel-deletion", user_id, origin, cause=cause)
        return self._notices.contacts(connection, user_id)

    def _record(
        self, connection: Connection, action: str, user_id: str, origin: Origin, **details: str
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=user_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details=details,
        )
        self._audit.record(connection, event)
