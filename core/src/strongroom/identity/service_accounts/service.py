"""Creates, renames and deletes the service accounts of the server."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.errors import NotFound
from strongroom.identity.accounts.account_deletion import AccountDeletion
from strongroom.identity.service_accounts.models import ServerAccountRow, ServiceAccount
from strongroom.identity.service_accounts.store import ServerAccountStore
from strongroom.identity.users.models import UserType
from strongroom.identity.users.service import UserService


@dataclass(slots=True, eq=False, repr=False)
class ServerAccountService:
    """Service accounts of the server, for its administrators. Routes check the caller."""

    _database: Database
    _clock: Clock
    _users: UserService
    _store: ServerAccountStore
    _deletion: AccountDeletion
    _audit: AuditService

    def create(self, identity: Identity, name: str, origin: Origin) -> ServiceAccount:
        """Create an account, which can never log in and has no key yet."""
        with self._database.write() as connection:
            user = self._users.create(connection, name, UserType.SERVICE)
            row = ServerAccountRow(user.id, identity.user_id, self._clock.now())
            self._store.add(connection, row)
            self._record(connection, "service-account.create", identity, user.id, origin)
        return ServiceAccount(user.id, name, row.created_by, row.created_at)

    def page(self, paging: Paging) -> tuple[Page[ServiceAccount], list[dict[str, str]]]:
        """Return a page of the accounts, oldest first, and summaries of their creators."""
        with self._database.read() as connection:
            rows = self._store.page(connection, paging)
            accounts = self._named(connection, rows.items)
            creators = self._users.summaries(connection, {row.created_by for row in rows.items})
        return rows.with_items(accounts), creators

    def get(self, user_id: str) -> ServiceAccount:
        """Return an account.

        Raises:
            NotFound: the server has no such account.
        """
        with self._database.read() as connection:
            return self._get(connection, user_id)

    def rename(self, identity: Identity, user_id: str, name: str, origin: Origin) -> ServiceAccount:
        """Change the name of an account; raises as :meth:`get`."""
        with self._database.write() as connection:
            self._get(connection, user_id)
            self._users.change(connection, user_id, name=name)
            self._record(connection, "user.change", identity, user_id, origin)
            return self._get(connection, user_id)

    def delete(self, identity: Identity, user_id: str, origin: Origin) -> None:
        """Delete an account with its keys; raises as :meth:`get`."""
        self.get(user_id)
        self._deletion.delete_other(identity, user_id, origin)

    def _get(self, connection: Connection, user_id: str) -> ServiceAccount:
        row = self._store.find(connection, user_id)
        if row is None:
            raise NotFound
        return self._named(connection, [row])[0]

    def _named(self, connection: Connection, rows: Sequence[ServerAccountRow]) -> list[ServiceAccount]:
        users = self._users.find(connection, [row.user_id for row in rows])
        names = {user.id: user.name for user in users}
        return [
            ServiceAccount(row.user_id, names[row.user_id], row.created_by, row.created_at)
            for row in rows
        ]

    def _record(
        self, connection: Connection, action: str, identity: Identity, user_id: str, origin: Origin
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=identity.user_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"type": UserType.SERVICE.value},
        )
        self._audit.record(connection, event)
