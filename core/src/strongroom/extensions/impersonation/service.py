"""Begins impersonations."""

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import Forbidden
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.service import UserService, lock_logins
from strongroom.plugin_api.login import Client

_MINUTE: Final = 60_000


@dataclass(frozen=True, slots=True)
class Impersonation:
    """A begun impersonation. ``expires_at`` is in milliseconds since the Unix epoch."""

    access_token: str = field(repr=False)
    expires_at: int
    id: str
    user: User


@dataclass(slots=True, eq=False, repr=False)
class ImpersonationService:
    """Begins impersonations, for administrators of the server."""

    _database: Database
    _clock: Clock
    _users: UserService
    _authorizations: AuthorizationService
    _audit: AuditService

    def begin(
        self,
        identity: Identity,
        user_id: str,
        reason: str,
        minutes: int,
        client: Client,
        origin: Origin,
    ) -> Impersonation:
        """Begin an impersonation of a user, which cannot be renewed.

        Args:
            minutes: after which it ends; it also ends with the access key of the caller.

        Raises:
            Forbidden: the caller is no administrator, or the user is no ordinary user.
            NotFound: there is no such user.
            UserSuspended: the user, or by now the caller, is suspended.
        """
        if not identity.is_admin:
            raise Forbidden
        ends_at = self._clock.now() + minutes * _MINUTE
        if identity.key is not None:
            ends_at = min(ends_at, identity.key.ends_at)
        with self._database.write() as connection:
            user = self._lock(connection, identity, user_id)
            begun, token = self._authorizations.impersonate(
                connection, user, identity.user_id, ends_at, client
            )
            details = {"authorization": begun.id, "reason": reason, "until": iso_format(ends_at)}
            event = AuditEvent(
                "impersonation.start",
                actor_id=identity.user_id,
                target_type="user",
                target_id=user.id,
                origin=origin,
                details=details,
            )
            self._audit.record(connection, event)
        return Impersonation(token.access_token, token.expires_at, begun.id, user)

    def _lock(self, connection: Connection, identity: Identity, user_id: str) -> User:
        """Return the user. Neither the user nor the caller can be suspended before the commit."""
        for locked in sorted({identity.user_id, user_id}):
            lock_logins(connection, locked, shared=True)
        actor, user = (self._users.get(connection, item) for item in (identity.user_id, user_id))
        # Administrators and service accounts would lend rights that the caller may not have.
        if actor.type != identity.user_type or user.type != UserType.USER:
            raise Forbidden
        actor.require_active()
        user.require_active()
        return user
