"""Usage and quotas of tenants, within the caller's transaction."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, FromClause, Update, bindparam, func, select, update

from strongroom.content.tenants.models import TENANT, Tenant, tenants
from strongroom.foundation.database.rows import Row
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound, StorageFull


def _number(name: str) -> Any:
    return bindparam(name, type_=BigInteger)


def _take() -> Update:
    # Check and update are one statement, so concurrent uploads cannot both take the last free bytes.
    # Shrinking is always allowed: a quota may be set below the current usage.
    quota = func.coalesce(tenants.c.quota_bytes, _number("default_quota"))
    growth = _number("used") + _number("reserved")
    total = tenants.c.used_bytes + tenants.c.reserved_bytes + growth
    fits = quota.is_(None) | (total <= quota) | (growth <= 0)
    return (
        update(tenants)
        .where(tenants.c.id == bindparam("tenant_id"), fits)
        .values(
            used_bytes=tenants.c.used_bytes + _number("used"),
            reserved_bytes=tenants.c.reserved_bytes + _number("reserved"),
        )
    )


def usage() -> FromClause:
    """Return the subquery with the usage and the quota of the tenant ``tenant_id``, in bytes."""
    used = (tenants.c.used_bytes + tenants.c.reserved_bytes).label("used")
    ours = tenants.c.id == bindparam("tenant_id")
    return select(used, tenants.c.quota_bytes).where(ours).subquery("usage")


_FIND: Final = Statement(
    select(tenants).where(tenants.c.id == bindparam("tenant_id"), tenants.c.deleted_at.is_(None)),
    TENANT,
)
_TAKE: Final = Statement(_take())
_TOTALS: Final = Statement(
    select(
        func.count().filter(tenants.c.deleted_at.is_(None)),
        func.coalesce(func.sum(tenants.c.used_bytes), 0),
    )
)


def totals(connection: Connection) -> tuple[int, int]:
    """Return the number of tenants that are not deleted, and the bytes that all tenants use."""
    ((count, used),) = _TOTALS.all(connection)
    return count, int(used)


@dataclass(slots=True, eq=False, repr=False)
class Quota:
    """Checks and updates the usage of tenants, in bytes.

    Args:
        default_quota: quota of tenants without their own, in bytes; ``None`` is unlimited.
        on_exceeded: is called with the tenant of each refusal, within its transaction.
    """

    _default_quota: int | None
    _on_exceeded: Callable[[str], None]

    def tenant(self, row: Row) -> Tenant:
        """Return the tenant of a row, with the default quota if it has none."""
        return self.with_default(TENANT(row))

    def with_default(self, tenant: Tenant) -> Tenant:
        """Return a tenant, with the default quota if it has none."""
        if tenant.quota_bytes is None:
            return replace(tenant, quota_bytes=self._default_quota)
        return tenant

    def find(self, connection: Connection, tenant_id: str) -> Tenant:
        """Return a tenant, with the default quota if it has none.

        Raises:
            NotFound: the tenant does not exist or is deleted.
        """
        tenant = _FIND.first(connection, {"tenant_id": tenant_id})
        if tenant is None:
            raise NotFound
        return self.with_default(tenant)

    def use(self, connection: Connection, tenant_id: str, size: int, *, reserved: int = 0) -> None:
        """Increase a tenant's usage; a negative size decreases it.

        Args:
            connection: the caller's transaction.
            size: change of the usage, in bytes.
            reserved: reserved bytes that are released in exchange.

        Raises:
            StorageFull: the tenant's quota would be exceeded.
        """
        self._take(connection, tenant_id, used=size, reserved=-reserved)

    def reserve(self, connection: Connection, tenant_id: str, size: int) -> None:
        """Reserve bytes of the quota for an open upload; a negative size releases them.

        Raises:
            StorageFull: the tenant's quota would be exceeded.
        """
        self._take(connection, tenant_id, used=0, reserved=size)

    def check(self, tenant_id: str, used: int, quota: int | None, size: int) -> None:
        """Check that the given number of bytes fits, by the columns of :func:`usage`.

        Raises:
            StorageFull: the tenant's quota would be exceeded.
        """
        # Only an early check: the decisive one is the UPDATE in _take().
        if not self.fits(used, quota, size):
            raise self._exceeded(tenant_id)

    def fits(self, used: int, quota: int | None, size: int) -> bool:
        """Return whether the given number of bytes fits, by the columns of :func:`usage`."""
        limit = self._default_quota if quota is None else quota
        return limit is None or size <= 0 or used + size <= limit

    def _take(self, connection: Connection, tenant_id: str, *, used: int, reserved: int) -> None:
        taken = {
            "tenant_id": tenant_id,
            "default_quota": self._default_quota,
            "used": used,
            "reserved": reserved,
        }
        if _TAKE.execute(connection, taken) != 1:
            raise self._exceeded(tenant_id)

    def _exceeded(self, tenant_id: str) -> StorageFull:
        self._on_exceeded(tenant_id)
        return StorageFull("The tenant's quota would be exceeded.")
