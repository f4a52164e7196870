"""Deletes tenants: hidden immediately, restorable during a grace period, then purged with all data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, select, update

from strongroom.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, next_revision
from strongroom.database import Database
from strongroom.errors import Forbidden, NotFound
from strongroom.identity import Identity, Origin
from strongroom.tenants.memberships import Memberships
from strongroom.tenants.models import Role, tenant_members, tenants

_DAY: Final = 24 * 60 * 60 * 1000

Eraser = Callable[[str], object]
"""Removes a feature's data of a tenant, in its own transactions."""


@dataclass(frozen=True, slots=True)
class DeletedTenant:
    """A tenant in its grace period. Times are in milliseconds since the Unix epoch."""

    id: str
    name: str
    deleted_at: int
    purged_from: int


class TenantDeletion:
    """Deletes, restores and purges tenants.

    Args:
        database: stores the tenants.
        clock: decides when the grace period ends.
        memberships: locks tenants.
        audit: records changes.
        grace_days: number of days for which a deleted tenant can be restored.
        erasers: remove the tenant's data of other features, in this order.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        memberships: Memberships,
        audit: AuditService,
        *,
        grace_days: int,
        erasers: Sequence[Eraser],
    ) -> None:
        self._database = database
        self._clock = clock
        self._memberships = memberships
        self._audit = audit
        self._grace = grace_days * _DAY
        self._erasers = erasers

    def delete(self, identity: Identity, tenant_id: str, origin: Origin) -> None:
        """Hide a tenant from all users, and start its grace period.

        Raises:
            Forbidden: the caller administers neither the tenant nor the server.
            NotFound: the tenant is already deleted, or does not exist.
        """
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            self._require_administrator(connection, identity, tenant_id)
            if not self._set_deleted(connection, tenant_id, self._clock.now()):
                raise NotFound
            self._record(connection, "tenant.delete", tenant_id, origin, identity.user_id)

    def restore(self, tenant_id: str, origin: Origin) -> None:
        """Restore a deleted tenant with its memberships, grants and files.

        Raises:
            NotFound: the tenant does not exist, is not deleted, or its grace period is over.
        """
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            if not self._set_deleted(connection, tenant_id, None):
                raise NotFound
            self._record(connection, "tenant.restore", tenant_id, origin)

    def deleted(self) -> list[DeletedTenant]:
        """Return the deleted tenants that can be restored, the oldest deletion first."""
        query = (
            select(tenants.c.id, tenants.c.name, tenants.c.deleted_at)
            .where(tenants.c.deleted_at > self._purged_before())
            .order_by(tenants.c.deleted_at, tenants.c.id)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [DeletedTenant(*row, row.deleted_at + self._grace) for row in rows]

    def purge(self, origin: Origin) -> int:
        """Remove the tenants whose grace period is over, and return their number.

        Safe while servers are running. The next purge continues an interrupted one.
        """
        before = self._purged_before()
        with self._database.read() as connection:
            due = connection.execute(select(tenants.c.id).where(tenants.c.deleted_at <= before))
            tenant_ids = due.scalars().all()
        return sum(self._purge(tenant_id, origin) for tenant_id in tenant_ids)

    def _purge(self, tenant_id: str, origin: Origin) -> bool:
        # The tenant's row goes last: while it exists, an interrupted purge is found again.
        for erase in self._erasers:
            erase(tenant_id)
        with self._database.write() as connection:
            removed = connection.execute(delete(tenants).where(tenants.c.id == tenant_id)).rowcount == 1
            if removed:
                self._record(connection, "tenant.purge", tenant_id, origin)
        return removed

    def _purged_before(self) -> int:
        return self._clock.now() - self._grace

    def _require_administrator(self, connection: Connection, identity: Identity, tenant_id: str) -> None:
        # Memberships.role() returns no role for a deleted tenant, which must give 404 here, not 403.
        query = select(tenant_members.c.role).where(
            tenant_members.c.tenant_id == tenant_id, tenant_members.c.user_id == identity.user_id
        )
        role = connection.execute(query).scalar()
        if role != Role.ADMIN and not identity.is_admin:
            raise Forbidden

    def _set_deleted(self, connection: Connection, tenant_id: str, deleted_at: int | None) -> bool:
        """Set or clear the deletion time of a tenant, and return whether it changed."""
        restores = deleted_at is None
        # A tenant past its grace period may already be partly purged.
        is_open = tenants.c.deleted_at > self._purged_before()
        wanted = is_open if restores else tenants.c.deleted_at.is_(None)
        query = select(tenants.c.revision).where(tenants.c.id == tenant_id, wanted).with_for_update()
        revision = connection.execute(query).scalar()
        if revision is None:
            return False
        now = self._clock.now()
        values = {"deleted_at": deleted_at, "updated_at": now, "revision": next_revision(revision, now)}
        connection.execute(update(tenants).where(tenants.c.id == tenant_id).values(values))
        return True

    def _record(
        self,
        connection: Connection,
        action: str,
        tenant_id: str,
        origin: Origin,
        actor_id: str | None = None,
    ) -> None:
        event = AuditEvent(
            action, actor_id=actor_id, target_type="tenant", target_id=tenant_id, origin=origin
        )
        self._audit.record(connection, event)
