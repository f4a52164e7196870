"""Users that directories provision.

A directory creates accounts and never finds one: an address, a name or an id that another user has is
refused, so no directory gets an account that existed before. What it changes later is bounded, too: it
ends and begins the membership of its own tenant, and changes the account itself only while the account
belongs to no other tenant, and the address only until its holder has verified it. A tenant that owns the
domain of an address decides who has the address, so its directory needs no such proof.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import (
    Connection,
    bindparam,
    delete,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, next_revision
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role, tenant_members, tenants
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.provisioning.address_owners import AddressOwners
from strongroom.extensions.provisioning.directories import DirectoryService
from strongroom.extensions.provisioning.handovers import Handovers
from strongroom.extensions.provisioning.models import (
    PROVISIONED_USER,
    Directory,
    ProvisionedUserRow,
    provisioned_users,
)
from strongroom.extensions.provisioning.user_records import (
    ProvisionedUser,
    UserFilter,
    UserState,
    count_users,
    select_users,
)
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import (
    CredentialTaken,
    NotFound,
    NotManagedHere,
    RevisionConflict,
)
from strongroom.identity.accounts.account_deletion import AccountDeletion
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.accounts.key_rights import require_manageable
from strongroom.identity.accounts.registration import identified
from strongroom.identity.accounts.suspension import Suspension, Suspensions
from strongroom.identity.users.credential_changes import ChangedBy, CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import EMAIL, User, UserStatus, UserType
from strongroom.identity.users.service import UserService
from strongroom.identity.users.suspension_ends import NO_SUSPENSION, SuspensionEnds
from strongroom.plugin_api.deactivation import Deactivation

DIRECTORY: Final = "directory"
"""The cause of what a directory does."""

REASON: Final = "Deactivated by the directory."
"""The reason of a suspension by a directory. An administrator's suspension has another one, or none."""

_ADD: Final = Statement(insert(provisioned_users))
_REMOVE: Final = Statement(
    delete(provisioned_users).where(provisioned_users.c.user_id == bindparam("of_user"))
)
_OTHER_MEMBERSHIP: Final = Statement(
    select(tenant_members.c.tenant_id)
    .join(tenants, tenants.c.id == tenant_members.c.tenant_id)
    .where(
        tenant_members.c.user_id == bindparam("of_user"),
        tenant_members.c.tenant_id != bindparam("of_realm"),
        tenants.c.deleted_at.is_(None),
    )
    .limit(1)
)
_KEPT: Final = (
    "external_id",
    "login_name",
    "login_key",
    "name",
    "email_key",
    "profile",
    "is_suspended",
    "updated_at",
    "revision",
)
_CHANGE: Final = Statement(
    update(provisioned_users)
    .where(provisioned_users.c.user_id == bindparam("of_user"))
    .values(**{name: bindparam(f"new_{name}", type_=provisioned_users.c[name].type) for name in _KEPT})
)


@dataclass(slots=True, eq=False, repr=False)
class ProvisionedUsers:
    """Creates, changes and removes users for directories."""

    _database: Database
    _clock: Clock
    _directories: DirectoryService
    _users: UserService
    _credentials: CredentialService
    _changes: CredentialChanges
    _memberships: Memberships
    _tenants: TenantService
    _deactivations: Deactivations
    _suspensions: Suspensions
    _suspension_ends: SuspensionEnds
    _deletion: AccountDeletion
    _handovers: Handovers
    _owners: AddressOwners
    _audit: AuditService

    def provision(
        self, identity: Identity, tenant_id: str | None, state: UserState, origin: Origin
    ) -> tuple[ProvisionedUser, bool]:
        """Create a user, who becomes a member of the tenant.

        Returns:
            The user, and whether the user is new: a user of this directory with the external id is
            returned as stored.

        Raises:
            Forbidden: no administrator has registered the caller.
            CredentialTaken: another user has the address, the login name or the external id.
            ValidationFailed: a value is invalid.
        """
        state.require_valid()
        with self._database.write() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=True)
            if state.external_id is not None:
                present = select_users(connection, directory, UserFilter(external_id=state.external_id))
                if present:
                    return present[0], False
            user = self._create(connection, identity, directory, state, origin)
            self._directories.note_change(connection, directory)
            return self._get(connection, directory, user.id), True

    def get(self, identity: Identity, tenant_id: str | None, user_id: str) -> ProvisionedUser:
        """Return a user of the caller's directory.

        Raises:
            Forbidden: no administrator has registered the caller.
            NotFound: the directory has no such user.
        """
        with self._database.read() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=False)
            return self._get(connection, directory, user_id)

    def part(
        self,
        identity: Identity,
        tenant_id: str | None,
        chosen: UserFilter,
        offset: int,
        limit: int,
    ) -> tuple[int, Sequence[ProvisionedUser]]:
        """Return the number of users of the caller's directory, and some of them, the oldest first.

        Raises:
            Forbidden: no administrator has registered the caller.
        """
        with self._database.read() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=False)
            total = count_users(connection, directory, chosen)
            if limit <= 0 or offset >= total:
                return total, []
            return total, select_users(connection, directory, chosen, offset, limit)

    def change(
        self,
        identity: Identity,
        tenant_id: str | None,
        user_id: str,
        state: UserState,
        origin: Origin,
        version: str | None = None,
    ) -> ProvisionedUser:
        """Replace what the directory says of a user. What is the same as before leaves the version.

        A user who is no longer active loses the membership with all secrets, and the account is
        suspended if it belongs to no other tenant. A later activation restores the membership, as a
        plain member, and no secret.

        Raises:
            Forbidden: no administrator has registered the caller.
            NotFound: the directory has no such user.
            RevisionConflict: the user has another version than the given one.
            CredentialTaken: another user has the address, the login name or the external id.
            LastAdministrator: the tenant, or the server, would have no administrator left.
            NotManagedHere: the address is not the directory's to change.
            ValidationFailed: a value is invalid.
        """
        state.require_valid()
        is_ended = False
        with self._database.write() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=True)
            user = self._get(connection, directory, user_id, version)
            row = user.row
            if user.is_as(state):
                return user
            self._directories.note_change(connection, directory)
            if state.email_key != row.email_key:
                self._change_email(connection, identity, directory, user_id, state.email, origin)
            if state.name != row.name and self._is_managed(connection, directory, user_id):
                self._users.change(connection, user_id, name=state.name)
            if state.is_active and not user.is_active:
                row = self._activate(connection, identity, directory, row, origin)
            elif user.is_active and not state.is_active:
                row = self._deactivate(connection, identity, directory, row, origin)
                is_ended = row.is_suspended
            self._store(connection, row, state)
            changed = self._get(connection, directory, user_id)
        if is_ended:
            self._suspensions.notify(user_id)
        return changed

    def remove(
        self,
        identity: Identity,
        tenant_id: str | None,
        user_id: str,
        origin: Origin,
        version: str | None = None,
    ) -> None:
        """Remove a user from the directory: from the tenant, and the account unless it has another one.

        The files stay with the tenant.

        Raises:
            Forbidden, NotFound, RevisionConflict, LastAdministrator: as :meth:`change`.
        """
        contacts = None
        with self._database.write() as connection:
            directory = self._directories.require(connection, identity, tenant_id, is_change=True)
            self._get(connection, directory, user_id, version)
            self._end_membership(connection, identity, directory, user_id, origin)
            if self._is_managed(connection, directory, user_id):
                self._require_dispensable(connection, identity, user_id)
                contacts = self._deletion.end(connection, user_id, identity.user_id, origin)
            _REMOVE.execute(connection, {"of_user": user_id})
            self._directories.note_change(connection, directory)
        if contacts is not None:
            self._deletion.notify(contacts)

    def deactivate(self, connection: Connection, deactivation: Deactivation) -> None:
        """Forget a deleted user."""
        if deactivation.is_deletion:
            _REMOVE.execute(connection, {"of_user": deactivation.user_id})

    def _get(
        self, connection: Connection, directory: Directory, user_id: str, version: str | None = None
    ) -> ProvisionedUser:
        """Return a user, who must have the version if there is one."""
        present = select_users(connection, directory, UserFilter(user_id=user_id))
        if not present:
            raise NotFound
        if version not in (None, present[0].version):
            raise RevisionConflict
        return present[0]

    def _create(
        self,
        connection: Connection,
        identity: Identity,
        directory: Directory,
        state: UserState,
        origin: Origin,
    ) -> User:
        user = self._users.create(connection, state.name)
        if state.email is not None:
            (credential,) = identified(self._credentials, {EMAIL: state.email})
            # The owner of a domain decides who has its addresses.
            is_own = self._owners.owns(connection, directory.tenant_id, credential.value)
            self._credentials.bind(connection, user.id, credential, is_verified=is_own)
        self._record(connection, "user.create", identity, user.id, origin, {"type": user.type})
        if state.locale is not None:
            self._users.change(connection, user.id, locale=state.locale)
        row = self._new_row(directory, user, state)
        try:
            with connection.begin_nested():
                _ADD.execute(connection, PROVISIONED_USER.values(row))
        except IntegrityError as error:
            raise _taken() from error
        if not state.is_active:
            self._suspend(connection, identity, user.id, origin)
        elif directory.tenant_id is not None:
            self._begin_membership(connection, identity, directory.tenant_id, user.id, origin)
        return user

    def _new_row(self, directory: Directory, user: User, state: UserState) -> ProvisionedUserRow:
        now = self._clock.now()
        return ProvisionedUserRow(
            user.id,
            directory.id,
            directory.realm,
            state.external_id,
            state.login_name,
            state.login_key,
            state.name,
            state.email_key,
            dict(state.profile),
            not state.is_active,
            now,
            now,
            now,
        )

    def _store(self, connection: Connection, row: ProvisionedUserRow, state: UserState) -> None:
        now = self._clock.now()
        changed = replace(
            row,
            external_id=state.external_id,
            login_name=state.login_name,
            login_key=state.login_key,
            name=state.name,
            email_key=state.email_key,
            profile=dict(state.profile),
            updated_at=now,
            revision=next_revision(row.revision, now),
        )
        values = {f"new_{name}": getattr(changed, name) for name in _KEPT}
        try:
            with connection.begin_nested():
                _CHANGE.execute(connection, {"of_user": row.user_id, **values})
        except IntegrityError as error:
            raise _taken() from error

    def _is_managed(self, connection: Connection, directory: Directory, user_id: str) -> bool:
        """Return whether the account is the directory's to change.

        It is in the realm of the server; in a tenant, unless the user belongs to another one as well,
        or has become an administrator of the server.
        """
        if directory.tenant_id is None:
            return True
        if self._users.get(connection, user_id).type != UserType.USER:
            return False
        elsewhere = {"of_user": user_id, "of_realm": directory.realm}
        return _OTHER_MEMBERSHIP.scalar(connection, elsewhere) is None

    def _change_email(
        self,
        connection: Connection,
        identity: Identity,
        directory: Directory,
        user_id: str,
        email: str | None,
        origin: Origin,
    ) -> None:
        self._credentials.lock_user(connection, user_id)
        user = self._users.get(connection, user_id)
        require_manageable(identity, user)
        bound = [item for item in self._credentials.of_user(connection, user_id) if item.kind == EMAIL]
        new = None if email is None else identified(self._credentials, {EMAIL: email})[0]
        if new is not None and any(item.value == new.value for item in bound):
            # The user has set it before.
            return
        tenant_id = directory.tenant_id
        is_own = new is not None and self._owners.owns(connection, tenant_id, new.value)
        # An address that its holder has verified stays, unless the tenant owns the domains of both.
        is_kept = tenant_id is not None and any(
            item.is_verified and not (is_own and self._owners.owns(connection, tenant_id, item.value))
            for item in bound
        )
        if is_kept or not self._is_managed(connection, directory, user_id):
            raise NotManagedHere.of_field("email", "not-managed", NotManagedHere.message)
        self._credentials.release(connection, user_id, EMAIL)
        if new is not None:
            self._credentials.bind(connection, user_id, new, is_verified=is_own)
        self._changes.settle(connection, ChangedBy(identity.user_id, origin))

    def _activate(
        self,
        connection: Connection,
        identity: Identity,
        directory: Directory,
        row: ProvisionedUserRow,
        origin: Origin,
    ) -> ProvisionedUserRow:
        user = self._users.get(connection, row.user_id)
        is_own_suspension = row.is_suspended and user.suspension_reason == REASON
        if user.status == UserStatus.SUSPENDED and is_own_suspension:
            self._users.change(connection, user.id, **NO_SUSPENSION)
            self._suspension_ends.record(connection, user.id, identity.user_id, DIRECTORY, origin)
        if directory.tenant_id is not None:
            self._handovers.cancel(connection, directory.tenant_id, user.id)
            if self._memberships.role(connection, directory.tenant_id, user.id) is None:
                self._begin_membership(connection, identity, directory.tenant_id, user.id, origin)
        return replace(row, is_suspended=False)

    def _deactivate(
        self,
        connection: Connection,
        identity: Identity,
        directory: Directory,
        row: ProvisionedUserRow,
        origin: Origin,
    ) -> ProvisionedUserRow:
        self._end_membership(connection, identity, directory, row.user_id, origin)
        if not self._is_managed(connection, directory, row.user_id):
            return row
        user = self._require_dispensable(connection, identity, row.user_id)
        if user.status == UserStatus.ACTIVE:
            self._suspend(connection, identity, row.user_id, origin)
            return replace(row, is_suspended=True)
        return row

    def _require_dispensable(self, connection: Connection, identity: Identity, user_id: str) -> User:
        user = self._deactivations.require_dispensable(connection, user_id)
        require_manageable(identity, user)
        return user

    def _suspend(self, connection: Connection, identity: Identity, user_id: str, origin: Origin) -> None:
        self._suspensions.apply(connection, user_id, Suspension(REASON))
        self._record(connection, "user.suspend", identity, user_id, origin, {"cause": DIRECTORY})

    def _begin_membership(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        user_id: str,
        origin: Origin,
    ) -> None:
        self._tenants.begin_membership(connection, identity, tenant_id, user_id, Role.MEMBER, origin)

    def _end_membership(
        self,
        connection: Connection,
        identity: Identity,
        directory: Directory,
        user_id: str,
        origin: Origin,
    ) -> None:
        if directory.tenant_id is None:
            return
        was_member = self._tenants.end_membership(
            connection, identity, directory.tenant_id, user_id, origin
        )
        if was_member and directory.successor_id not in (None, user_id):
            self._handovers.request(
                connection, directory.tenant_id, user_id, str(directory.successor_id)
            )

    def _record(
        self,
        connection: Connection,
        action: str,
        identity: Identity,
        user_id: str,
        origin: Origin,
        details: dict[str, str],
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=identity.user_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details=details,
        )
        self._audit.record(connection, event)


def _taken() -> CredentialTaken:
    message = "Another user of the tenant has the login name or the external id."
    return CredentialTaken.of_field("loginName", "taken", message)
