"""Reads and patches the JSON objects about users."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.extensions.user_management.administration import Administration
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.identity.accounts.key_rights import require_manageable
from strongroom.identity.users.metadata import StoredMetadata, UserMetadata
from strongroom.identity.users.service import UserService

Json = dict[str, Any]

Check = Callable[[Json], None]
"""Requires that an object is small enough to be stored."""


@dataclass(slots=True, eq=False, repr=False)
class MetadataService:
    """The objects about users: the users' own, and the administrators'."""

    _database: Database
    _users: UserService
    _metadata: UserMetadata
    _administration: Administration
    _audit: AuditService

    def get(self, identity: Identity, user_id: str) -> Json:
        """Return the object that the user writes.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        return self._read(user_id).own

    def get_server(self, user_id: str) -> Json:
        """Return the object that only administrators read and write.

        Raises:
            NotFound: there is no such user.
        """
        return self._read(user_id).server

    def patch(
        self, identity: Identity, user_id: str, changes: Json, check: Check, origin: Origin
    ) -> Json:
        """Merge changes into the object that the user writes (RFC 7396), and return it.

        Raises:
            Forbidden: the caller is neither the user nor an administrator, or the caller's access key
                may not change this user.
            NotFound: there is no such user.
            ValidationFailed: the check has refused the result.
        """
        identity.require_self_or_admin(user_id)

        def merge(stored: StoredMetadata) -> StoredMetadata:
            return replace(stored, own=merged(stored.own, changes))

        return self._change(identity, user_id, merge, check, "user.change-metadata", origin).own

    def patch_server(
        self, identity: Identity, user_id: str, changes: Json, check: Check, origin: Origin
    ) -> Json:
        """Do :meth:`patch` for the object of administrators.

        Raises:
            Forbidden: the caller's access key may not change this user.
            NotFound: there is no such user.
            ValidationFailed: the check has refused the result.
            StrongroomError: as :meth:`Administration.require`.
        """
        self._administration.require(identity)

        def merge(stored: StoredMetadata) -> StoredMetadata:
            return replace(stored, server=merged(stored.server, changes))

        action = "user.change-server-metadata"
        return self._change(identity, user_id, merge, check, action, origin).server

    def _read(self, user_id: str) -> StoredMetadata:
        with self._database.read() as connection:
            self._users.get(connection, user_id)
            return self._metadata.get(connection, user_id)

    def _change(
        self,
        identity: Identity,
        user_id: str,
        merge: Callable[[StoredMetadata], StoredMetadata],
        check: Check,
        action: str,
        origin: Origin,
    ) -> StoredMetadata:
        with self._database.write() as connection:
            # Locks the user, so that concurrent changes are merged one after the other.
            require_manageable(identity, self._users.change(connection, user_id))
            new = merge(self._metadata.get(connection, user_id))
            check(new.own)
            check(new.server)
            self._metadata.set(connection, user_id, new)
            event = AuditEvent(
                action,
                actor_id=identity.user_id,
                target_type="user",
                target_id=user_id,
                origin=origin,
            )
            self._audit.record(connection, event)
        return new


def merged(target: Any, changes: Any) -> Any:
    """Return the target of a JSON merge patch with its changes (RFC 7396, section 2)."""
    if not isinstance(changes, dict):
        return changes
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result
