"""Service accounts of tenants: users without a login, for machines that act by access keys."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
)

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound
from strongroom.identity.access_keys.models import AccessKey
from strongroom.identity.access_keys.service import AccessKeyService, KeyRequest, NewKey
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.accounts.reauthentication import Proof
from strongroom.identity.service_accounts.models import ServiceAccount
from strongroom.identity.users.models import UserType
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.deactivation import DeactivationCause


@dataclass(frozen=True, slots=True)
class ServiceAccountRow:
    """A row of :data:`service_accounts`."""

    user_id: str
    tenant_id: str
    created_by: str
    created_at: int


service_accounts: Final = Table(
    "service_accounts",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("created_by", Id, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Index(None, "tenant_id", "created_at", "user_id"),
)
"""The tenant whose administrators manage an account. The account is a member of it like any other."""

_ROW: Final = RowMapper(ServiceAccountRow, service_accounts)
_OF_USER: Final = service_accounts.c.user_id == bindparam("user_id")
_OF_TENANT: Final = service_accounts.c.tenant_id == bindparam("tenant_id")
_ADD: Final = Statement(insert(service_accounts))
_REMOVE: Final = Statement(delete(service_accounts).where(_OF_USER))
_FIND: Final = Statement(select(service_accounts).where(_OF_USER, _OF_TENANT), _ROW)


@dataclass(slots=True, eq=False, repr=False)
class ServiceAccountService:
    """Service accounts, for administrators of their tenant."""

    _database: Database
    _clock: Clock
    _memberships: Memberships
    _users: UserService
    _keys: AccessKeyService
    _deactivations: Deactivations
    _audit: AuditService

    def create(self, identity: Identity, tenant_id: str, name: str, origin: Origin) -> ServiceAccount:
        """Create an account that is a member of the tenant.

        Raises:
            Forbidden: the caller does not administer the tenant.
        """
        with self._database.write() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
            user = self._users.create(connection, name, UserType.SERVICE)
            self._memberships.put(connection, tenant_id, user.id, Role.MEMBER)
            row = ServiceAccountRow(user.id, tenant_id, identity.user_id, self._clock.now())
            _ADD.execute(connection, _ROW.values(row))
            self._record(connection, "service-account.create", identity, tenant_id, user.id, origin)
        return ServiceAccount(user.id, name, row.created_by, row.created_at)

    def page(
        self, identity: Identity, tenant_id: str, paging: Paging
    ) -> tuple[Page[ServiceAccount], list[dict[str, str]]]:
        """Return a page of a tenant's accounts, oldest first, and summaries of their creators.

        Raises:
            Forbidden: the caller does not administer the tenant.
        """
        ours = service_accounts.c.tenant_id == tenant_id
        order = (service_accounts.c.created_at, service_accounts.c.user_id)
        query = select(service_accounts).where(ours).order_by(*order)
        count = select(func.count()).select_from(service_accounts).where(ours)
        with self._database.read() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
            rows = select_page(connection, query, count, paging, _ROW)
            accounts = self._named(connection, rows.items)
            creators = self._users.summaries(connection, {row.created_by for row in rows.items})
        return rows.with_items(accounts), creators

    def get(self, identity: Identity, tenant_id: str, user_id: str) -> ServiceAccount:
        """Return an account.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such account.
        """
        with self._database.read() as connection:
            row = self._managed(connection, identity, tenant_id, user_id)
            return self._named(connection, [row])[0]

    def delete(self, identity: Identity, tenant_id: str, user_id: str, origin: Origin) -> None:
        """Delete an account with its keys and memberships; its files stay with the tenant.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the tenant has no such account.
        """
        with self._database.write() as connection:
            self._managed(connection, identity, tenant_id, user_id)
            self._memberships.remove(connection, tenant_id, user_id)
            self._deactivations.deactivate(connection, user_id, DeactivationCause.DELETION)
            self._users.delete(connection, user_id)
            _REMOVE.execute(connection, {"user_id": user_id})
            self._record(connection, "service-account.delete", identity, tenant_id, user_id, origin)

    def create_key(
        self,
        identity: Identity,
        tenant_id: str,
        user_id: str,
        requested: KeyRequest,
        proof: Proof,
        origin: Origin,
    ) -> NewKey:
        """Create a key of an account, limited to the tenant.

        Raises:
            StrongroomError: as :meth:`AccessKeyService.create`, and as :meth:`get`.
        """
        self._require_managed(identity, tenant_id, user_id)
        self._keys.require_proof(identity, proof)
        limited = replace(requested, tenant_id=tenant_id)
        return self._keys.create_for(user_id, limited, identity.user_id, origin, identity)

    def keys(self, identity: Identity, tenant_id: str, user_id: str, paging: Paging) -> Page[AccessKey]:
        """Return a page of the keys of an account; raises as :meth:`get`."""
        self._require_managed(identity, tenant_id, user_id)
        return self._keys.get_page(user_id, paging)

    def revoke_key(
        self, identity: Identity, tenant_id: str, user_id: str, key_id: str, origin: Origin
    ) -> None:
        """Delete a key of an account; raises as :meth:`get`."""
        self._require_managed(identity, tenant_id, user_id)
        self._keys.revoke_for(user_id, key_id, identity.user_id, origin)

    def rotate_key(
        self,
        identity: Identity,
        tenant_id: str,
        user_id: str,
        key_id: str,
        overlap: int,
        proof: Proof,
        origin: Origin,
    ) -> NewKey:
        """Give a key of an account a new secret.

        Raises:
            StrongroomError: as :meth:`AccessKeyService.rotate`, and as :meth:`get`.
        """
        self._require_managed(identity, tenant_id, user_id)
        self._keys.require_proof(identity, proof)
        return self._keys.rotate_for(user_id, key_id, overlap, identity.user_id, origin)

    def _require_managed(self, identity: Identity, tenant_id: str, user_id: str) -> None:
        with self._database.read() as connection:
            self._managed(connection, identity, tenant_id, user_id)

    def _managed(
        self, connection: Connection, identity: Identity, tenant_id: str, user_id: str
    ) -> ServiceAccountRow:
        self._memberships.require_admin(connection, tenant_id, identity)
        row = _FIND.first(connection, {"tenant_id": tenant_id, "user_id": user_id})
        if row is None:
            raise NotFound
        return row

    def _named(self, connection: Connection, rows: Iterable[ServiceAccountRow]) -> list[ServiceAccount]:
        rows = list(rows)
        users = self._users.find(connection, [row.user_id for row in rows])
        names = {user.id: user.name for user in users}
        return [
            ServiceAccount(row.user_id, names[row.user_id], row.created_by, row.created_at)
            for row in rows
        ]

    def _record(
        self,
        connection: Connection,
        action: str,
        identity: Identity,
        tenant_id: str,
        user_id: str,
        origin: Origin,
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=identity.user_id,
            target_type="user",
            target_id=user_id,
            origin=origin,
            details={"tenant": tenant_id, "type": UserType.SERVICE.value},
        )
        self._audit.record(connection, event)
