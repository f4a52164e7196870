"""When a domain counts as proven: the only such rule."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, and_, or_, select

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom_login_sso.models import Domain, domains
from strongroom_login_sso.options import SsoOptions


@dataclass(slots=True, eq=False, repr=False)
class Proofs:
    """Decides whether domains count as proven, at the time of each question."""

    _host: HostAPI

    def is_proven(self, domain: Domain) -> bool:
        """Return whether a domain counts as proven now."""
        ends_at = self.ends_at(domain)
        return ends_at is not None and self._host.clock.now() < ends_at

    def ends_at(self, domain: Domain) -> int | None:
        """Return until when a domain counts if no check finds its record, or ``None`` if it does not."""
        if domain.verified_at is None or domain.proven_at is None:
            return None
        options: SsoOptions = self._host.options
        ends = [domain.proven_at + options.unchecked]
        if domain.lost_since is not None:
            ends.append(domain.lost_since + options.grace)
        return min(ends)

    def condition(self) -> ColumnElement[bool]:
        """Return the condition that a row of :data:`domains` counts as proven now."""
        now, options = self._host.clock.now(), self._host.options
        return and_(
            domains.c.verified_at.is_not(None),
            domains.c.proven_at > now - options.unchecked,
            or_(domains.c.lost_since.is_(None), domains.c.lost_since > now - options.grace),
        )

    def has_proven(self, transaction: Transaction, tenant_id: str, domain: str | None) -> bool:
        """Return whether a tenant has proven a domain, and no other tenant has since."""
        if domain is None:
            return False
        query = select(domains.c.id).where(
            domains.c.tenant_id == tenant_id, domains.c.domain == domain, self.condition()
        )
        return transaction.scalar(query) is not None

    def find_owner(self, transaction: Transaction, domain: str) -> str | None:
        """Return the tenant that has proven a domain, or ``None``."""
        query = select(domains.c.tenant_id).where(domains.c.domain == domain, self.condition())
        owner: str | None = transaction.scalar(query)
        return owner
