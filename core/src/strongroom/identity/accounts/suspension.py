"""Suspends users, and reinstates them."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import RevisionConflict, ValidationFailed
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.accounts.key_rights import require_manageable
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.models import User, UserStatus
from strongroom.identity.users.service import UserService
from strongroom.identity.users.suspension_ends import NO_SUSPENSION, SuspensionEnds
from strongroom.plugin_api.deactivation import DeactivationCause

ADMINISTRATOR: Final = "administrator"
PLATFORM: Final = "platform"
"""The cause of a suspension by the plugin of a platform that the user has left."""


@dataclass(frozen=True, slots=True)
class Suspension:
    """A suspension.

    Args:
        reason: for administrators only.
        until: when it ends, in milliseconds since the Unix epoch; ``None``: by a reinstatement only.
    """

    reason: str | None = None
    until: int | None = None


@dataclass(slots=True, eq=False, repr=False)
class Suspensions:
    """Suspends and reinstates users. Suspending twice is no error, and replaces reason and end."""

    _database: Database
    _clock: Clock
    _users: UserService
    _deactivations: Deactivations
    _ends: SuspensionEnds
    _notices: Notices
    _audit: AuditService

    def suspend(
        self,
        identity: Identity,
        user_id: str,
        suspension: Suspension,
        origin: Origin,
        revision: int | None = None,
    ) -> User:
        """Suspend another user, who is notified, on request of an administrator.

        Raises:
            ValidationFailed: the end is not in the future.
            NotFound, OwnAccount, LastAdministrator, RevisionConflict: see :meth:`begin`.
        """
        if suspension.until is not None and suspension.until <= self._clock.now():
            raise ValidationFailed.of_field("until", "not-in-the-future", "Must be in the future.")
        with self._database.write() as connection:
            user = self.begin(connection, identity, user_id, suspension, origin, revision)
        self.notify(user_id)
        return user

    def reinstate(
        self, identity: Identity, user_id: str, origin: Origin, revision: int | None = None
    ) -> User:
        """Let a suspended user log in again. What the suspension has ended stays so.

        Raises:
            NotFound: there is no such user.
            RevisionConflict: the user has changed since the given revision.
        """
        with self._database.write() as connection:
            return self.end(connection, identity, user_id, origin, revision)

    def begin(
        self,
        connection: Connection,
        identity: Identity,
        user_id: str,
        suspension: Suspension,
        origin: Origin,
        revision: int | None = None,
    ) -> User:
        """Suspend a user, and end everything that the user could do; the caller notifies the user.

        Raises:
            NotFound: there is no such user.
            OwnAccount: the caller is this user.
            Forbidden: the caller's access key may not change this user.
            LastAdministrator: the server would have no active administrator.
            RevisionConflict: the user has changed since the given revision.
        """
        require_manageable(identity, self._users.get(connection, user_id))
        identity.require_other(user_id)
        self._deactivations.require_dispensable(connection, user_id)
        user = self.apply(connection, user_id, suspension, revision)
        self._record(connection, user, identity.user_id, ADMINISTRATOR, origin)
        return user

    def begin_unasked(
        self,
        connection: Connection,
        user_id: str,
        suspension: Suspension,
        cause: str,
        origin: Origin,
    ) -> bool:
        """Suspend a user without a caller, as :meth:`begin` does; return whether the user was active.

        Raises:
            LastAdministrator: the server would have no active administrator.
        """
        user = self._deactivations.require_dispensable(connection, user_id)
        if user.status != UserStatus.ACTIVE:
            return False
        user = self.apply(connection, user_id, suspension)
        self._record(connection, user, None, cause, origin)
        return True

    def _record(
        self, connection: Connection, user: User, actor_id: str | None, cause: str, origin: Origin
    ) -> None:
        until = user.suspended_until
        event = AuditEvent(
            "user.suspend",
            actor_id=actor_id,
            target_type="user",
            target_id=user.id,
            origin=origin,
            details={"cause": cause} | ({} if until is None else {"until": iso_format(until)}),
        )
        self._audit.record(connection, event)

    def apply(
        self,
        connection: Connection,
        user_id: str,
        suspension: Suspension,
        revision: int | None = None,
    ) -> User:
        """Suspend a user, for callers who have checked that they may, and who record it."""
        self._deactivations.deactivate(connection, user_id, DeactivationCause.SUSPENSION)
        return self._users.change(
            connection,
            user_id,
            revision,
            status=UserStatus.SUSPENDED.value,
            suspended_until=suspension.until,
            suspension_reason=suspension.reason,
        )

    def end(
        self,
        connection: Connection,
        identity: Identity,
        user_id: str,
        origin: Origin,
        revision: int | None = None,
    ) -> User:
        """Reinstate a user, if suspended.

        Raises:
            NotFound: there is no such user.
            RevisionConflict: the user has changed since the given revision.
        """
        user = self._users.get(connection, user_id)
        require_manageable(identity, user)
        if user.status == UserStatus.ACTIVE:
            if revision not in (None, user.revision):
                raise RevisionConflict
            return user
        user = self._users.change(connection, user_id, revision, **NO_SUSPENSION)
        self._ends.record(connection, user_id, identity.user_id, ADMINISTRATOR, origin)
        return user

    def notify(self, user_id: str) -> None:
        """Notify a suspended user, in the user's own language."""
        with self._database.read() as connection:
            contacts = self._notices.contacts(connection, user_id)
        self._notices.notify(contacts, "user-suspended")
