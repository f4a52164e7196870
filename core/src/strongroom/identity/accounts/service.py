"""Lists and changes users."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.errors import Forbidden
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.accounts.key_rights import require_manageable
from strongroom.identity.accounts.reauthentication import Reauthentication
from strongroom.identity.accounts.suspension import Suspension, Suspensions
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import SINGLE_KINDS, User, UserStatus, UserType
from strongroom.identity.users.service import UserService
from strongroom.identity.users.user_lists import UserLists, UserOrder, UserSelection, UserSort
from strongroom.plugin_api.deactivation import DeactivationCause

_EXACT: Final = ("status", "type", "external_id")
_OF_ADMINISTRATORS: Final = frozenset({"type", "status", "external_id"})


@dataclass(slots=True, eq=False, repr=False)
class AccountService:
    """User accounts, for the users themselves and for administrators."""

    _database: Database
    _users: UserService
    _credentials: CredentialService
    _suspensions: Suspensions
    _deactivations: Deactivations
    _reauthentication: Reauthentication
    _audit: AuditService
    _lists: UserLists

    def get(self, identity: Identity, user_id: str) -> User:
        """Return a user.

        Raises:
            Forbidden: the caller is neither the user nor an administrator.
            NotFound: there is no such user.
        """
        identity.require_self_or_admin(user_id)
        with self._database.read() as connection:
            return self._users.get(connection, user_id)

    @replica_read
    def page(self, paging: Paging, filters: Mapping[str, str]) -> Page[User]:
        """Return a page of the users who match all filters.

        Args:
            paging: offset and size of the page.
            filters: by ``status``, ``type`` and ``external_id``; by ``email``, ``mobile`` and
                ``username``, in any spelling; and by ``q``, a part of the name or of one of those
                three. ``sort`` is one of :data:`USER_SORTS`.
        """
        selection = UserSelection(
            {name: filters[name] for name in _EXACT if name in filters},
            text=filters.get("q"),
            order=UserOrder.parse(filters.get("sort", UserSort.CREATED_AT)),
        )
        contacts = {kind: filters[kind] for kind in SINGLE_KINDS if kind in filters}
        with self._database.read() as connection:
            if contacts:
                selection = replace(selection, user_ids=self._holders(connection, contacts))
            return self._lists.page(connection, selection, paging)

    def find_login_names(self, user_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return :meth:`CredentialService.find_login_names`."""
        with self._database.read() as connection:
            return self._credentials.find_login_names(connection, user_ids)

    def find(self, user_ids: Collection[str]) -> Sequence[User]:
        """Return the users that exist, including deleted ones, in no particular order."""
        with self._database.read() as connection:
            return self._users.find(connection, user_ids)

    def find_active(self, user_id: str) -> User | None:
        """Return a user who is active; ``None`` if there is none."""
        with self._database.read() as connection:
            users = self._users.find(connection, [user_id])
        return next((user for user in users if user.status == UserStatus.ACTIVE), None)

    def _holders(self, connection: Connection, contacts: Mapping[str, str]) -> set[str]:
        """Return the id of the user who has all contacts, if any."""
        # Normalised, so that any spelling finds the user. Invalid text matches no user.
        named = [self._credentials.identify(text) for text in contacts.values()]
        known = [item for kind, item in zip(contacts, named, strict=True) if item and item.kind == kind]
        if len(known) < len(contacts):
            return set()
        holders = self._credentials.find_users(connection, known)
        user_ids = {holders.get(item, "") for item in known}
        return user_ids if len(user_ids) == 1 else set()

    def change(
        self,
        identity: Identity,
        user_id: str,
        values: dict[str, str | None],
        revision: int | None,
        origin: Origin,
    ) -> User:
        """Change a user's name, locale or time zone; administrators also type, status and external id.

        Raises:
            Forbidden: the caller may not make this change.
            StepUpRequired: the caller has a second factor, and must prove it for these.
            NotFound: there is no such user.
            OwnAccount, LastAdministrator: see :meth:`Suspensions.begin`; also for a change of the type.
            RevisionConflict: the user has changed since the given revision.
            CredentialTaken: another user has the external id.
        """
        self._require_allowed(identity, user_id, values)
        status = values.pop("status", None)
        with self._database.write() as connection:
            if status is not None or "type" in values:
                # In the same order as in a deletion, so that the two cannot deadlock.
                self._deactivations.lock(connection, user_id)
            # After the lock of administrators, for which the end of the caller's rights waits.
            self._reauthentication.require_live(connection, identity)
            user = self._users.get(connection, user_id)
            require_manageable(identity, user)
            if values.get("type", user.type) != user.type:
                self._end_former_type(connection, identity, user)
            user = self._users.change(connection, user_id, revision, **values)
            if values or status is None:
                self._record(connection, identity, user_id, origin)
            is_suspended = user.status == UserStatus.ACTIVE and status == UserStatus.SUSPENDED
            if is_suspended:
                user = self._suspensions.begin(connection, identity, user_id, Suspension(), origin)
            elif status == UserStatus.ACTIVE:
                user = self._suspensions.end(connection, identity, user_id, origin)
        if is_suspended:
            self._suspensions.notify(user_id)
        return user

    def _require_allowed(self, identity: Identity, user_id: str, values: Mapping[str, Any]) -> None:
        identity.require_self_or_admin(user_id)
        if not _OF_ADMINISTRATORS & values.keys():
            return
        if not identity.is_admin:
            raise Forbidden("Only administrators may change type, status and external id.")
        if values.get("type") == UserType.SERVICE:
            raise Forbidden("A user cannot become a service account.")
        if identity.key is None:
            self._reauthentication.require_factor(identity)
        elif "type" in values:
            raise Forbidden("An access key cannot change the type of a user.")

    def _end_former_type(self, connection: Connection, identity: Identity, user: User) -> None:
        """End what a user could do before a change of type, which authorizations have stored."""
        if user.type == UserType.SERVICE:
            raise Forbidden("A service account cannot become a user.")
        identity.require_other(user.id)
        self._deactivations.require_dispensable(connection, user.id)
        self._deactivations.deactivate(connection, user.id, DeactivationCause.TYPE_CHANGE)

    def _record(self, connection: Connection, identity: Identity, user_id: str, origin: Origin) -> None:
        event = AuditEvent(
            "user.change",
            actor_id=identity.user_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
        )
        self._audit.record(connection, event)
