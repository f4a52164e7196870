"""What may be shared, by the configuration and by the tenant; the stricter of both counts."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import select

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError
from strongroom_share_links.errors import FORBIDDEN
from strongroom_share_links.models import Link, policies, upsert
from strongroom_share_links.options import MAKERS, PASSWORDS, ShareOptions

_DAY = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of a tenant. ``max_lifetime_days`` 0 allows shares without an end."""

    enabled: bool
    kinds: tuple[str, ...]
    max_lifetime_days: int
    password: str
    who: str

    @property
    def lifetime(self) -> int | None:
        """The longest lifetime in milliseconds; ``None`` without a limit."""
        return self.max_lifetime_days * _DAY or None

    def allows(self, link: Link) -> bool:
        """Return whether a share may be opened: kinds and passwords count for existing shares, too."""
        has_password = self.password != PASSWORDS[-1] or link.password_hash is not None
        return self.enabled and link.kind in self.kinds and has_password


@dataclass(slots=True, eq=False, repr=False)
class Policies:
    """The policies of tenants."""

    _host: HostAPI

    @property
    def _options(self) -> ShareOptions:
        options: ShareOptions = self._host.options
        return options

    def find(self, transaction: Transaction, tenant_id: str) -> Policy:
        """Return the policy of a tenant within the configuration."""
        options = self._options
        row = transaction.first(select(policies).where(policies.c.tenant_id == tenant_id))
        general = Policy(
            options.enabled, options.kinds, options.max_lifetime_days, options.password, options.who
        )
        return general if row is None else _stricter(general, row)

    def get(self, tenant_id: str) -> Policy:
        """Return the policy of the caller's tenant.

        Raises:
            ApiError: the caller is not a member.
        """
        if self._host.tenants.role(tenant_id) is None:
            raise ApiError(FORBIDDEN)
        with self._host.database.read() as transaction:
            return self.find(transaction, tenant_id)

    def put(self, tenant_id: str, rules: Mapping[str, Any]) -> Policy:
        """Replace the tenant's own rules; absent ones are those of the configuration.

        Raises:
            ApiError: the caller does not administer the tenant.
        """
        if self._host.tenants.role(tenant_id) != "admin":
            raise ApiError(FORBIDDEN)
        with self._host.database.write() as transaction:
            upsert(transaction, policies, {"tenant_id": tenant_id, **rules})
            policy = self.find(transaction, tenant_id)
            details = {**asdict(policy), "kinds": list(policy.kinds)}
            self._host.audit("policy", "tenant", tenant_id, details, transaction=transaction)
        return policy


def _stricter(general: Policy, row: Any) -> Policy:
    kinds = general.kinds if row.kinds is None else tuple(k for k in general.kinds if k in row.kinds)
    days = [days for days in (general.max_lifetime_days, row.max_lifetime_days) if days]
    creators = [general.who, row.who or general.who]
    passwords = (general.password, row.password)
    return Policy(
        enabled=general.enabled and row.enabled is not False,
        kinds=kinds,
        max_lifetime_days=min(days, default=0),
        password="required" if "required" in passwords else "optional",
        who=max(creators, key=MAKERS.index),
    )
