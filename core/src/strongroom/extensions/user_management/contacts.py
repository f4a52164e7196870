"""Sets and removes the contacts and the username of users, for administrators."""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.extensions.user_management.administration import Administration, require_takeover
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import NotFound
from strongroom.identity.accounts.registration import identified
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import USERNAME, BoundCredential
from strongroom.identity.users.service import UserService


@dataclass(slots=True, eq=False, repr=False)
class ManagedContacts:
    """Changes what users log in by, without their proofs."""

    _database: Database
    _users: UserService
    _credentials: CredentialService
    _administration: Administration
    _changes: CredentialChanges

    def put(
        self,
        identity: Identity,
        user_id: str,
        kind: str,
        text: str,
        origin: Origin,
        *,
        is_verified: bool,
    ) -> BoundCredential:
        """Set a contact or the username; it replaces the former one. The user is notified at both.

        Args:
            is_verified: whether the contact counts as proven. A username needs no proof.

        Raises:
            ValidationFailed: the text is not a credential of this kind.
            CredentialTaken: another user has it.
            NotFound: there is no such user.
            StrongroomError: as :meth:`Administration.require` and :func:`require_takeover`.
        """
        self._administration.require(identity)
        (credential,) = identified(self._credentials, {kind: text})
        with self._database.write() as connection:
            self._lock(connection, identity, user_id)
            # Release first, because a unique index allows one credential of a kind per user.
            self._credentials.release(connection, user_id, kind)
            self._credentials.bind(
                connection, user_id, credential, is_verified=is_verified or kind == USERNAME
            )
            bound = self._credentials.of_user(connection, user_id)
            self._changes.settle(connection, ChangedBy(identity.user_id, origin))
        return next(item for item in bound if item.kind == kind)

    def remove(self, identity: Identity, user_id: str, kind: str, origin: Origin) -> None:
        """Remove a contact or the username, perhaps the last one.

        Raises:
            NotFound: there is no such user, or the user has no credential of this kind.
            StrongroomError: as :meth:`Administration.require` and :func:`require_takeover`.
        """
        self._administration.require(identity)
        with self._database.write() as connection:
            self._lock(connection, identity, user_id)
            if all(item.kind != kind for item in self._credentials.of_user(connection, user_id)):
                raise NotFound
            self._credentials.release(connection, user_id, kind)
            self._changes.settle(connection, ChangedBy(identity.user_id, origin))

    def _lock(self, connection: Connection, identity: Identity, user_id: str) -> None:
        self._administration.confirm(connection, identity)
        self._credentials.lock_user(connection, user_id)
        require_takeover(identity, self._users.get(connection, user_id))
