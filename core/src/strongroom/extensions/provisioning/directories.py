"""Directories: which service accounts may provision users, and where."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Table,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import tenants
from strongroom.extensions.provisioning.models import (
    DIRECTORY,
    SERVER_REALM,
    Directory,
    directories,
    directory_errors,
    provisioned_groups,
    provisioned_users,
)
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Forbidden, NotAMember, NotFound, ValidationFailed
from strongroom.foundation.ids import new_id
from strongroom.identity.service_accounts.store import ServerAccountStore
from strongroom.identity.users.models import UserType
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.deactivation import Deactivation

_NOTED_EVERY: Final = 60_000
"""Milliseconds."""

_IN_REALM: Final = directories.c.realm == bindparam("of_realm")
_IS_ONE: Final = _IN_REALM & (directories.c.id == bindparam("directory_id"))


def _is_live() -> ColumnElement[bool]:
    tenant = select(tenants.c.id).where(
        tenants.c.id == directories.c.tenant_id, tenants.c.deleted_at.is_(None)
    )
    return or_(directories.c.tenant_id.is_(None), tenant.exists())


_ADD: Final = Statement(insert(directories))
_FIND: Final = Statement(select(directories).where(_IS_ONE), DIRECTORY)
_OF_ACCOUNT: Final = Statement(
    select(directories).where(
        _IN_REALM, directories.c.account_id == bindparam("of_account"), _is_live()
    ),
    DIRECTORY,
)
_CHANGE: Final = Statement(
    update(directories)
    .where(_IS_ONE)
    .values(
        name=bindparam("new_name"),
        account_id=bindparam("new_account"),
        may_write=bindparam("new_may_write"),
        successor_id=bindparam("new_successor"),
    )
)
_REMOVE: Final = Statement(delete(directories).where(_IS_ONE))
_NOTE_USE: Final = Statement(update(directories).where(_IS_ONE).values(last_used_at=bindparam("now")))
_NOTE_CHANGE: Final = Statement(
    update(directories).where(_IS_ONE).values(last_changed_at=bindparam("now"))
)
_RELEASE_ACCOUNT: Final = Statement(
    update(directories)
    .where(directories.c.account_id == bindparam("of_account"))
    .values(account_id=None)
)


def _counting(table: Table) -> Statement[tuple[str, int]]:
    of_directories = table.c.directory_id.in_(bindparam("ids", expanding=True))
    count = select(table.c.directory_id, func.count()).where(of_directories)
    return Statement(count.group_by(table.c.directory_id), tuple)


_COUNT_USERS: Final = _counting(provisioned_users)
_COUNT_GROUPS: Final = _counting(provisioned_groups)
_COUNT_ERRORS: Final = _counting(directory_errors)


class ResourceCounts(NamedTuple):
    """The numbers of users and groups that a directory has created, and of its errors."""

    users: int = 0
    groups: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class DirectoryRequest:
    """What an administrator says of a directory.

    Args:
        may_write: whether it may change anything.
        successor_id: the member who takes over the files of leavers; only in a tenant.
    """

    name: str
    account_id: str
    may_write: bool = True
    successor_id: str | None = None


@dataclass(slots=True, eq=False, repr=False)
class DirectoryService:
    """Registers directories, and finds the one of a caller."""

    _database: Database
    _clock: Clock
    _users: UserService
    _memberships: Memberships
    _server_accounts: ServerAccountStore
    _audit: AuditService

    def page(self, identity: Identity, tenant_id: str | None, paging: Paging) -> Page[Directory]:
        """Return a page of the directories of a tenant, or of the server, the oldest first.

        Raises:
            Forbidden: the caller does not administer it.
        """
        ours = directories.c.realm == (tenant_id or SERVER_REALM)
        query = select(directories).where(ours).order_by(directories.c.created_at, directories.c.id)
        count = select(func.count()).select_from(directories).where(ours)
        with self._database.read() as connection:
            self._require_administrator(connection, identity, tenant_id)
            return select_page(connection, query, count, paging, DIRECTORY)

    def count(self, chosen: Sequence[Directory]) -> dict[str, ResourceCounts]:
        """Return the numbers of users, groups and errors of directories, by their ids."""
        if not chosen:
            return {}
        ids = {"ids": [directory.id for directory in chosen]}
        with self._database.read() as connection:
            users, groups, errors = (
                dict(statement.all(connection, ids))
                for statement in (_COUNT_USERS, _COUNT_GROUPS, _COUNT_ERRORS)
            )
        return {
            name: ResourceCounts(users.get(name, 0), groups.get(name, 0), errors.get(name, 0))
            for name in ids["ids"]
        }

    def get(
        self, connection: Connection, identity: Identity, tenant_id: str | None, directory_id: str
    ) -> Directory:
        """Return a directory to an administrator.

        Raises:
            Forbidden: the caller does not administer the tenant, or the server.
            NotFound: there is no such directory.
        """
        self._require_administrator(connection, identity, tenant_id)
        return self._get(connection, tenant_id, directory_id)

    def register(
        self, identity: Identity, tenant_id: str | None, request: DirectoryRequest, origin: Origin
    ) -> Directory:
        """Let a service account provision users of a tenant, or of the server.

        Raises:
            Forbidden: the caller does not administer it.
            ValidationFailed: the account is no service account of it, or has a directory already.
            NotAMember: the successor is not a member of the tenant.
        """
        with self._database.write() as connection:
            self._require(connection, identity, tenant_id, request)
            directory = Directory(
                new_id(),
                tenant_id or SERVER_REALM,
                tenant_id,
                request.account_id,
                request.name,
                request.may_write,
                request.successor_id,
                identity.user_id,
                self._clock.now(),
            )
            try:
                with connection.begin_nested():
                    _ADD.execute(connection, DIRECTORY.values(directory))
            except IntegrityError as error:
                raise _taken() from error
            self._record(connection, "directory.register", identity, directory, origin)
        return directory

    def change(
        self,
        identity: Identity,
        tenant_id: str | None,
        directory_id: str,
        request: DirectoryRequest,
        origin: Origin,
    ) -> Directory:
        """Replace the name, the account, the right to write and the successor of a directory.

        Raises:
            NotFound: there is no such directory.
            StrongroomError: as :meth:`register`.
        """
        with self._database.write() as connection:
            self._require(connection, identity, tenant_id, request)
            self._get(connection, tenant_id, directory_id)
            changes = {
                "new_name": request.name,
                "new_account": request.account_id,
                "new_may_write": request.may_write,
                "new_successor": request.successor_id,
            }
            try:
                with connection.begin_nested():
                    _CHANGE.execute(connection, {**_key(tenant_id, directory_id), **changes})
            except IntegrityError as error:
                raise _taken() from error
            directory = self._get(connection, tenant_id, directory_id)
            self._record(connection, "directory.change", identity, directory, origin)
        return directory

    def remove(
        self, identity: Identity, tenant_id: str | None, directory_id: str, origin: Origin
    ) -> None:
        """Remove a directory. Its users and groups stay; no directory changes them from now on.

        Raises:
            Forbidden: the caller does not administer the tenant, or the server.
            NotFound: there is no such directory.
        """
        with self._database.write() as connection:
            self._require_administrator(connection, identity, tenant_id)
            directory = self._get(connection, tenant_id, directory_id)
            _REMOVE.execute(connection, _key(tenant_id, directory_id))
            self._record(connection, "directory.remove", identity, directory, origin)

    def require(
        self, connection: Connection, identity: Identity, tenant_id: str | None, *, is_change: bool
    ) -> Directory:
        """Return the directory of the caller, a service account with an access key or a client's token.

        The demands of a tenant on logins do not concern it, because an administrator has registered it.

        Args:
            is_change: whether the caller's transaction changes something; it then holds the tenant lock.

        Raises:
            Forbidden: no administrator has registered the caller, or only for reading.
        """
        if is_change and tenant_id is not None:
            # Before anything is read that the change depends on.
            self._memberships.lock_tenant(connection, tenant_id)
        key = identity.key
        if key is None or identity.user_type != UserType.SERVICE or key.folder_id is not None:
            raise Forbidden
        # A key of the server administers it; one of a tenant reaches this tenant only.
        if key.tenant_id is not None and key.tenant_id != tenant_id:
            raise Forbidden
        parameters = {"of_realm": tenant_id or SERVER_REALM, "of_account": identity.user_id}
        directory = _OF_ACCOUNT.first(connection, parameters)
        if directory is None or (is_change and not directory.may_write):
            raise Forbidden
        return directory

    def note_change(self, connection: Connection, directory: Directory) -> None:
        """Store that a directory has changed a user or a group."""
        self._note(connection, _NOTE_CHANGE, directory, directory.last_changed_at)

    def find(self, identity: Identity, tenant_id: str | None) -> Directory:
        """Return the directory of the caller, and note that it was used; raises as :meth:`require`."""
        with self._database.read() as connection:
            directory = self.require(connection, identity, tenant_id, is_change=False)
        if self._is_due(directory.last_used_at):
            with self._database.write(durable=False) as connection:
                self._note(connection, _NOTE_USE, directory, directory.last_used_at)
        return directory

    def deactivate(self, connection: Connection, deactivation: Deactivation) -> None:
        """Let a directory have no account once its service account is deleted."""
        if deactivation.is_deletion:
            _RELEASE_ACCOUNT.execute(connection, {"of_account": deactivation.user_id})

    def _is_due(self, noted_at: int | None) -> bool:
        return noted_at is None or self._clock.now() - noted_at >= _NOTED_EVERY

    def _note(
        self,
        connection: Connection,
        statement: Statement[None],
        directory: Directory,
        noted_at: int | None,
    ) -> None:
        """Store the time, unless it was stored within the last minute."""
        if self._is_due(noted_at):
            now = {"now": self._clock.now()}
            statement.execute(connection, {**_key(directory.tenant_id, directory.id), **now})

    def _require(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str | None,
        request: DirectoryRequest,
    ) -> None:
        self._require_administrator(connection, identity, tenant_id)
        account = next(iter(self._users.find(connection, [request.account_id])), None)
        is_server_account = self._server_accounts.find(connection, request.account_id) is not None
        if account is None or account.type != UserType.SERVICE:
            raise _no_account()
        if tenant_id is None:
            if not is_server_account:
                raise _no_account()
            if request.successor_id is not None:
                raise ValidationFailed.of_field("successorId", "not-allowed", "Only in a tenant.")
            return
        is_member = self._memberships.role(connection, tenant_id, request.account_id) is not None
        if not (is_server_account or is_member):
            raise _no_account()
        if request.successor_id is not None:
            self._require_successor(connection, tenant_id, request.successor_id)

    def _require_successor(self, connection: Connection, tenant_id: str, user_id: str) -> None:
        if self._memberships.role(connection, tenant_id, user_id) is None:
            raise NotAMember.of_field("successorId", "not-a-member", "Must be a member of the tenant.")

    def _require_administrator(
        self, connection: Connection, identity: Identity, tenant_id: str | None
    ) -> None:
        if tenant_id is not None:
            self._memberships.require_admin(connection, tenant_id, identity)
        elif not identity.is_admin:
            raise Forbidden

    def _get(self, connection: Connection, tenant_id: str | None, directory_id: str) -> Directory:
        directory = _FIND.first(connection, _key(tenant_id, directory_id))
        if directory is None:
            raise NotFound
        return directory

    def _record(
        self,
        connection: Connection,
        action: str,
        identity: Identity,
        directory: Directory,
        origin: Origin,
    ) -> None:
        details = {"tenant": directory.tenant_id, "account": directory.account_id}
        event = AuditEvent(
            action,
            actor_id=identity.user_id,
            target_type="directory",
            target_id=directory.id,
            origin=origin,
            details={name: value for name, value in details.items() if value is not None},
        )
        self._audit.record(connection, event)


def _key(tenant_id: str | None, directory_id: str) -> dict[str, str]:
    return {"of_realm": tenant_id or SERVER_REALM, "directory_id": directory_id}


def _taken() -> ValidationFailed:
    return ValidationFailed.of_field("accountId", "taken", "Must not have a directory yet.")


def _no_account() -> ValidationFailed:
    return ValidationFailed.of_field("accountId", "invalid", "Must be a service account of it.")
