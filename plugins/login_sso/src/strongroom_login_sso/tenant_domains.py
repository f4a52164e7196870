"""The domains of tenants: their proof by a TXT record, and its repetition."""

import hmac
import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, update
from uuid_utils import uuid7

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import JobRun
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_login_sso.administrators import Administrators
from strongroom_login_sso.dns_records import FindsTexts, LookupFailed
from strongroom_login_sso.errors import (
    DOMAIN_LIMIT,
    DOMAIN_LISTED,
    DOMAIN_NOT_PROVEN,
    DOMAIN_REFUSED,
    DOMAIN_TAKEN,
    DOMAIN_UNCHECKED,
    DOMAIN_UNKNOWN,
)
from strongroom_login_sso.models import Domain, domains
from strongroom_login_sso.names import FREE_MAIL, MAX_DOMAIN, normalize_domain
from strongroom_login_sso.options import DAY
from strongroom_login_sso.proofs import Proofs

logger = logging.getLogger(__name__)

VALUE: Final = "strongroom-domain-verification="
PREFIX: Final = "_strongroom."
TARGET: Final = "sso-domain"

_HOUR: Final = 60 * 60 * 1000
_JITTER: Final = 2 * _HOUR
_AT_ONCE: Final = 100
"""Domains that one run of the job checks."""

_RATES: Final = ("30/hour",)
"""Checks that the administrators of a tenant may demand."""

_LOST_SUBJECT: Final = "The DNS record of a domain has disappeared"
_LOST_TEXT: Final = (
    "The DNS record that proves a domain of your space was not found. Publish it again within days, or "
    "people with such addresses can no longer log in by single sign-on."
)


@dataclass(slots=True, eq=False, repr=False)
class TenantDomains:
    """The domains that tenants claim."""

    _host: HostAPI
    _administrators: Administrators
    _proofs: Proofs
    _dns: FindsTexts

    def create(self, tenant_id: str, name: str) -> Domain:
        """Claim a domain for a tenant; it counts once it is proven.

        Raises:
            ApiError: no company owns it, or the tenant has it, or too many.
        """
        creator_id = self._administrators.require(tenant_id)
        domain = normalize_domain(name)
        if domain is None or domain in FREE_MAIL or len(PREFIX + domain) > MAX_DOMAIN:
            message = "Must be the company's own domain, such as acme.example."
            raise ApiError(DOMAIN_REFUSED, details=[FieldError("domain", "refused", message)])
        now = self._host.clock.now()
        domain_id = str(uuid7())
        row = {
            "id": domain_id,
            "tenant_id": tenant_id,
            "domain": domain,
            "token": secrets.token_hex(20),
            "creator_id": creator_id,
            "created_at": now,
        }
        ours = domains.c.tenant_id == tenant_id
        with self._host.database.write(lock=f"domains of {tenant_id}") as tx:
            if tx.scalar(select(domains.c.id).where(ours, domains.c.domain == domain)):
                raise ApiError(DOMAIN_LISTED)
            count = tx.scalar(select(func.count()).select_from(domains).where(ours))
            if count >= self._host.options.domains_per_tenant:
                raise ApiError(DOMAIN_LIMIT)
            tx.execute(insert(domains), [row])
            created = _find(tx, tenant_id, domain_id)
            self._record(tx, "domain-add", created)
        return created

    def list(self, tenant_id: str, query: Mapping[str, Any]) -> ResultPage[Domain]:
        """Return a page of the domains of a tenant, sorted by name."""
        self._administrators.require(tenant_id)
        ours = select(domains).where(domains.c.tenant_id == tenant_id)
        with self._host.database.read() as tx:
            page = tx.page(ours.order_by(domains.c.domain, domains.c.id), query)
        return page.map(Domain.from_row)

    def get(self, tenant_id: str, domain_id: str) -> Domain:
        """Return a domain of a tenant."""
        self._administrators.require(tenant_id)
        with self._host.database.read() as tx:
            return _find(tx, tenant_id, domain_id)

    def delete(self, tenant_id: str, domain_id: str) -> None:
        """Give up a domain: its people no longer log in by single sign-on, at once."""
        self._administrators.require(tenant_id)
        with self._host.database.write() as tx:
            domain = _find(tx, tenant_id, domain_id)
            tx.execute(delete(domains).where(domains.c.id == domain_id))
            self._record(tx, "domain-remove", domain)

    def verify(self, tenant_id: str, domain_id: str) -> Domain:
        """Look up the record of a domain now.

        Raises:
            ApiError: there is no such record, another tenant has proven the domain, or DNS is down.
        """
        domain = self.get(tenant_id, domain_id)
        self._host.limits.check_rate("domain_checks", _RATES, tenant_id)
        try:
            is_there = self._has_record(domain)
        except LookupFailed as error:
            logger.info("A domain cannot be checked now: %s", error)
            raise ApiError(DOMAIN_UNCHECKED) from error
        if not is_there:
            message = f"Must have the text {record_value(domain)}."
            raise ApiError(
                DOMAIN_NOT_PROVEN, details=[FieldError(record_name(domain), "missing", message)]
            )
        with self._host.database.write(lock=f"proof of {domain.domain}") as tx:
            domain = _find(tx, tenant_id, domain_id)
            self._take_over(tx, domain)
            self._prove(tx, domain)
            proven = _find(tx, tenant_id, domain_id)
            self._record(tx, "domain-verify", proven)
        return proven

    def check_due(self, run: JobRun) -> None:
        """Check the domains whose last check is a day ago; see the job ``check_domains``."""
        now = self._host.clock.now()
        due = (
            select(domains)
            .where(domains.c.verified_at.is_not(None), domains.c.next_check_at <= now)
            .order_by(domains.c.next_check_at, domains.c.id)
            .limit(_AT_ONCE)
        )
        with self._host.database.read() as tx:
            rows = tx.all(due)
        for row in rows:
            if run.should_stop:
                return
            self._check(Domain.from_row(row))

    def erase_tenant(self, tenant_id: str) -> None:
        """Remove the domains of a tenant."""
        with self._host.database.write() as tx:
            tx.execute(delete(domains).where(domains.c.tenant_id == tenant_id))

    def _check(self, domain: Domain) -> None:
        """Repeat the proof of a domain. That DNS does not answer proves nothing."""
        try:
            is_there: bool | None = self._has_record(domain)
        except LookupFailed as error:
            logger.warning("A domain cannot be checked now: %s", error)
            is_there = None
        with self._host.database.write(lock=f"proof of {domain.domain}") as tx:
            current = _first(tx, domain.id)
            if current is None or current.verified_at is None:
                return
            if is_there:
                self._prove(tx, current)
            elif is_there is None:
                _change(tx, current, next_check_at=self._host.clock.now() + _HOUR)
            else:
                self._lose(tx, current)
        if is_there is False and current.lost_since is None:
            self._report_loss(current)

    def _prove(self, tx: Transaction, domain: Domain) -> None:
        now = self._host.clock.now()
        _change(
            tx,
            domain,
            verified_at=now if domain.verified_at is None else domain.verified_at,
            checked_at=now,
            proven_at=now,
            lost_since=None,
            next_check_at=now + DAY - secrets.randbelow(_JITTER),
        )

    def _lose(self, tx: Transaction, domain: Domain) -> None:
        now = self._host.clock.now()
        since = now if domain.lost_since is None else domain.lost_since
        _change(
            tx,
            domain,
            checked_at=now,
            lost_since=since,
            next_check_at=now + DAY - secrets.randbelow(_JITTER),
        )
        if domain.lost_since is None:
            self._record(tx, "domain-lose", domain)
            logger.warning("The TXT record of the domain %s has disappeared", domain.domain)

    def _report_loss(self, domain: Domain) -> None:
        """Inform the administrator who has added a domain that its record has disappeared."""
        if self._host.users.administers(domain.creator_id, domain.tenant_id):
            self._host.notify(domain.creator_id, _LOST_SUBJECT, _LOST_TEXT)

    def _take_over(self, tx: Transaction, domain: Domain) -> None:
        """Void the proofs of other tenants, each of which must have failed its own check before.

        Raises:
            ApiError: the proof of another tenant has not failed.
        """
        same = select(domains).where(
            domains.c.domain == domain.domain,
            domains.c.tenant_id != domain.tenant_id,
            domains.c.verified_at.is_not(None),
        )
        for other in map(Domain.from_row, tx.all(same)):
            if other.lost_since is None and self._proofs.is_proven(other):
                raise ApiError(DOMAIN_TAKEN)
            _change(tx, other, verified_at=None, next_check_at=None)

    def _has_record(self, domain: Domain) -> bool:
        expected = record_value(domain).encode()
        texts = self._dns.find_texts(record_name(domain))
        return any(hmac.compare_digest(text.strip(), expected) for text in texts)

    def _record(self, tx: Transaction, action: str, domain: Domain) -> None:
        about = {"domain": domain.domain}
        self._administrators.record(tx, action, TARGET, domain.id, domain.tenant_id, **about)


def record_name(domain: Domain) -> str:
    """Return the name of the TXT record of a domain."""
    return f"{PREFIX}{domain.domain}"


def record_value(domain: Domain) -> str:
    """Return the text of the TXT record, which is of one tenant and one domain."""
    return f"{VALUE}{domain.token}"


def _first(tx: Transaction, domain_id: str) -> Domain | None:
    row = tx.first(select(domains).where(domains.c.id == domain_id))
    return None if row is None else Domain.from_row(row)


def _find(tx: Transaction, tenant_id: str, domain_id: str) -> Domain:
    """Return a domain of a tenant.

    Raises:
        ApiError: the tenant has none of this id.
    """
    domain = _first(tx, domain_id)
    if domain is None or domain.tenant_id != tenant_id:
        raise ApiError(DOMAIN_UNKNOWN)
    return domain


def _change(tx: Transaction, domain: Domain, **values: Any) -> None:
    tx.execute(update(domains).where(domains.c.id == domain.id).values(values))
