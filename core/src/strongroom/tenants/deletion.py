"""Deletes tenants: hidden at once, restorable for some days, and then purged with all they hold."""

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
"""Removes what a feature keeps for a tenant, in batches of its own."""


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
        database: where tenants are kept.
        clock: the time.
        memberships: locks tenants.
        audit: the record of changes.
        grace_days: the days for which a deleted tenant can be restored.
        erasers: remove what other features keep for a tenant, in this order.
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
        """Hide a tenant from everyone, and begin its grace period.

        Raises:
            Forbidden: the caller administers neither the tenant nor the server.
            NotFound: the tenant is deleted already, or does not exist.
        """
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            self._require_administrator(connection, identity, tenant_id)
            if not self._set_deleted(connection, tenant_id, self._clock.now()):
                raise NotFound
            self._record(connection, "tenant.delete", tenant_id, origin, identity.user_id)

    def restore(self, tenant_id: str, origin: Origin) -> None:
        """End a tenant's grace period; its members have what they had.

        Raises:
            NotFound: no such tenant is in its grace period.
        """
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            if not self._set_deleted(connection, tenant_id, None):
                raise NotFound
            self._record(connection, "tenant.restore", tenant_id, origin)

    def deleted(self) -> list[DeletedTenant]:
        """Return the tenants in their grace period, the oldest deletion first."""
        query = (
            select(tenants.c.id, tenants.c.name, tenants.c.deleted_at)
            .where(tenants.c.deleted_at > self._purged_before())
            .order_by(tenants.c.deleted_at, tenants.c.id)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [DeletedTenant(*row, row.deleted_at + self._grace) for row in rows]

    def purge(self, origin: Origin) -> int:
        """Remove the tenants whose grace period is over, and return how many there were.

        Safe while servers run. An interrupted purge is continued by the next one.
        """
        before = self._purged_before()
        with self._database.read() as connection:
            due = connection.execute(select(tenants.c.id).where(tenants.c.deleted_at <= before))
            tenant_ids = due.scalars().all()
        return sum(self._purge(tenant_id, origin) for tenant_id in tenant_ids)

    def _purge(self, tenant_id: str, origin: Origin) -> bool:
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
        # Not by the role that holds: members of a deleted tenant have none.
        query = select(tenant_members.c.role).where(
            tenant_members.c.tenant_id == tenant_id, tenant_members.c.user_id == identity.user_id
        )
        role = connection.execute(query).scalar()
        if role != Role.ADMIN and not identity.is_admin:
            raise Forbidden

    def _set_deleted(self, connection: Connection, tenant_id: str, deleted_at: int | None) -> bool:
        """Set when a tenant was deleted, and return whether that was a change."""
        restores = deleted_at is None
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
