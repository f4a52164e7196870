"""Deletes tenants: hidden immediately, restorable during a grace period, then purged with all data."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy import Connection, bindparam, delete, select, update

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import DAY, Clock, next_revision
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role, tenant_members, tenants
from strongroom.foundation.caller import Identity, Origin, Override
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Forbidden, NotFound, RevisionConflict
from strongroom.plugin_api.erasers import TenantEraser

logger = logging.getLogger(__name__)

_OF_TENANT: Final = tenants.c.id == bindparam("tenant_id")
_RESTORABLE: Final = tenants.c.deleted_at > bindparam("purged_before")
_DELETED: Final = Statement(
    select(tenants.c.id, tenants.c.name, tenants.c.deleted_at)
    .where(_RESTORABLE)
    .order_by(tenants.c.deleted_at, tenants.c.id)
)
_DUE: Final = Statement(select(tenants.c.id).where(~_RESTORABLE))
_PURGE: Final = Statement(delete(tenants).where(_OF_TENANT))
_ROLE: Final = Statement(
    select(tenant_members.c.role).where(
        tenant_members.c.tenant_id == bindparam("tenant_id"),
        tenant_members.c.user_id == bindparam("user_id"),
    )
)
_REVISION: Final = select(tenants.c.revision).where(_OF_TENANT).with_for_update()
_REVISION_OF_LIVE: Final = Statement(_REVISION.where(tenants.c.deleted_at.is_(None)))
# A tenant past its grace period may already be partly purged.
_REVISION_OF_RESTORABLE: Final = Statement(_REVISION.where(_RESTORABLE))
_SET_DELETED: Final = Statement(
    update(tenants)
    .where(_OF_TENANT)
    .values(deleted_at=bindparam("at"), updated_at=bindparam("now"), revision=bindparam("next"))
)


class ContentGuard(Protocol):
    """Refuses to remove the content of tenants that must be kept."""

    def require_removable_tenant(
        self, connection: Connection, tenant_id: str, override: Override | None
    ) -> None:
        """Raise if the tenant has content that must be kept, and the override is not permitted."""

    def may_purge_tenant(self, connection: Connection, tenant_id: str) -> bool:
        """Return whether the content of a deleted tenant may be removed now."""


class TenantsNotErased(Exception):
    """Erasers failed. The ids of the tenants remain until the next purge, which calls them again."""

    def __init__(self, tenant_ids: Sequence[str]) -> None:
        super().__init__(f"{', '.join(tenant_ids)} cannot be erased yet; see the log")


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
        grace_days: number of days for which a deleted tenant can be restored.
        guard: refuses to remove content that must be kept.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        memberships: Memberships,
        audit: AuditService,
        *,
        grace_days: int,
        guard: ContentGuard,
    ) -> None:
        self._database = database
        self._clock = clock
        self._memberships = memberships
        self._audit = audit
        self._grace = grace_days * DAY
        self._guard = guard
        self._erasers: Iterable[TenantEraser] = ()

    def erase_by(self, erasers: Iterable[TenantEraser]) -> None:
        """Set the functions that remove the data of a tenant, in their order; read at each purge."""
        self._erasers = erasers

    def delete(
        self,
        identity: Identity,
        tenant_id: str,
        origin: Origin,
        override: Override | None = None,
        revision: int | None = None,
    ) -> None:
        """Hide a tenant from all users, and start its grace period.

        Raises:
            Forbidden: the caller administers neither the tenant nor the server.
            NotFound: the tenant is already deleted, or does not exist.
            FileHeld: the tenant has a hold.
            FileRetained: content is retained, and the override is not permitted.
            RevisionConflict: the tenant has changed since the given revision.
        """
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            self._require_administrator(connection, identity, tenant_id)
            # Under the lock of the tenant, which placing a hold takes, too.
            self._guard.require_removable_tenant(connection, tenant_id, override)
            if not self._set_deleted(connection, tenant_id, self._clock.now(), revision):
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
        with self._database.read() as connection:
            rows = _DELETED.all(connection, {"purged_before": self._purged_before()})
        return [
            DeletedTenant(row.id, row.name, row.deleted_at, row.deleted_at + self._grace) for row in rows
        ]

    def purge(self, origin: Origin) -> int:
        """Remove the tenants whose grace period is over, and return their number.

        Safe while servers are running. The next purge continues an interrupted one.

        Raises:
            TenantsNotErased: erasers failed; the other tenants were removed.
        """
        with self._database.read() as connection:
            tenant_ids = _DUE.scalars(connection, {"purged_before": self._purged_before()})
        removed, failed = 0, []
        for tenant_id in tenant_ids:
            try:
                removed += self._purge(tenant_id, origin)
            except TenantsNotErased:
                failed.append(tenant_id)
        if failed:
            raise TenantsNotErased(failed)
        return removed

    def _purge(self, tenant_id: str, origin: Origin) -> bool:
        with self._database.read() as connection:
            # Checked again, because the retention of the server may be stricter than at the deletion.
            if not self._guard.may_purge_tenant(connection, tenant_id):
                return False
        # The tenant's row goes last: while it exists, an interrupted purge is found again.
        self._erase(tenant_id)
        with self._database.write() as connection:
            removed = _PURGE.execute(connection, {"tenant_id": tenant_id}) == 1
            if removed:
                self._record(connection, "tenant.purge", tenant_id, origin)
        return removed

    def _erase(self, tenant_id: str) -> None:
        """Call all erasers, also after one that fails, so that it keeps no data of the others."""
        is_erased = True
        for erase in self._erasers:
            try:
                erase(tenant_id)
            except Exception as error:
                is_erased = False
                logger.exception("The tenant %s cannot be erased yet: %s", tenant_id, error)  # noqa: TRY401  names the plugin
        if not is_erased:
            raise TenantsNotErased([tenant_id])

    def _purged_before(self) -> int:
        return self._clock.now() - self._grace

    def _require_administrator(self, connection: Connection, identity: Identity, tenant_id: str) -> None:
        if not identity.is_admin:
            # The tenant may demand a stronger login.
            self._memberships.caller_role(connection, tenant_id, identity)
        # Memberships.role() returns no role for a deleted tenant, which must give 404 here, not 403.
        role = _ROLE.scalar(connection, {"tenant_id": tenant_id, "user_id": identity.user_id})
        if role != Role.ADMIN and not identity.is_admin:
            raise Forbidden

    def _set_deleted(
        self,
        connection: Connection,
        tenant_id: str,
        deleted_at: int | None,
        expected: int | None = None,
    ) -> bool:
        """Set or clear the deletion time of a tenant, and return whether it changed."""
        current = _REVISION_OF_RESTORABLE if deleted_at is None else _REVISION_OF_LIVE
        parameters = {"tenant_id": tenant_id, "purged_before": self._purged_before()}
        revision = current.scalar(connection, parameters)
        if revision is None:
            return False
        if expected not in (None, revision):
            raise RevisionConflict
        now = self._clock.now()
        values = {"at": deleted_at, "now": now, "next": next_revision(revision, now)}
        _SET_DELETED.execute(connection, {"tenant_id": tenant_id, **values})
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
