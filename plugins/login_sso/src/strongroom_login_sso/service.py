"""Builds what one server needs: domains, providers, and the rules of logins."""

import logging
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.dialects import postgresql, sqlite

from strongroom.plugin_api.deactivation import Deactivation, DeactivationCause
from strongroom.plugin_api.events import Event
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.jobs import JobRun
from strongroom.plugin_api.login import VerifiedCredential
from strongroom.plugin_api.pages import LoginRoute
from strongroom.plugin_api.state import Transaction
from strongroom_login_oauth.links import button_labels
from strongroom_login_oidc.groups import GroupRules
from strongroom_login_sso.administrators import Administrators
from strongroom_login_sso.dns_records import FindsTexts, TextRecords
from strongroom_login_sso.identity_providers import IdentityProviders
from strongroom_login_sso.login_rules import LoginRules, get_provider_id
from strongroom_login_sso.models import TenantProvider, break_glass, domains, leavers, providers
from strongroom_login_sso.names import MAX_ADDRESS, get_domain
from strongroom_login_sso.options import SsoOptions
from strongroom_login_sso.paths import begin_path
from strongroom_login_sso.proofs import Proofs
from strongroom_login_sso.tenant_domains import TenantDomains

logger = logging.getLogger(__name__)

MEMBER_ADDED: Final = "member.added"
EVENTS: Final = (MEMBER_ADDED, "factor.removed")
_MINUTE: Final = 60 * 1000
_INSERTS: Final[Mapping[str, Callable[..., Any]]] = {
    "postgresql": postgresql.insert,
    "sqlite": sqlite.insert,
}


class SingleSignOn:
    """The parts of the plugin in one server."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host
        self.proofs = Proofs(host)
        self._administrators = Administrators(host)
        self.rules = LoginRules(host, self.proofs, self._administrators)
        self.providers = IdentityProviders(host, self._administrators, self.proofs)

    @property
    def options(self) -> SsoOptions:
        """The options of the plugin."""
        options: SsoOptions = self._host.options
        return options

    @cached_property
    def dns(self) -> FindsTexts:
        """The resolver."""
        return TextRecords(self.options.servers(), self.options.dns_timeout)

    @cached_property
    def domains(self) -> TenantDomains:
        """The domains of tenants."""
        return TenantDomains(self._host, self._administrators, self.proofs, self.dns)

    def check_domains(self, run: JobRun) -> None:
        """Repeat the proofs of domains that are due."""
        self.domains.check_due(run)

    def find_provider(self, provider_id: str) -> TenantProvider | None:
        """Return a provider of any tenant, for a login."""
        if len(provider_id) > 36 or "\0" in provider_id:  # noqa: PLR2004  the length of the column
            return None
        with self._host.database.read() as tx:
            row = tx.first(select(providers).where(providers.c.id == provider_id))
        return None if row is None else TenantProvider.from_row(row)

    def has_proven(self, tenant_id: str, address: str) -> bool:
        """Return whether a tenant has proven the domain of an address."""
        with self._host.database.read() as tx:
            return self.proofs.has_proven(tx, tenant_id, get_domain(address))

    def find_route(self, address: str) -> tuple[TenantProvider, bool] | None:
        """Return the provider that people with an address log in by, and whether they must.

        It depends on the domain only, never on whether there is an account.
        """
        domain = get_domain(address) or ""
        query = (
            select(providers)
            .join(domains, domains.c.tenant_id == providers.c.tenant_id)
            .where(domains.c.domain == domain, self.proofs.condition())
            .order_by(providers.c.enforced.desc(), providers.c.created_at, providers.c.id)
            .limit(1)
        )
        with self._host.database.read() as tx:
            row = tx.first(query)
        return None if row is None else (TenantProvider.from_row(row), row.enforced)

    def find_page_route(self, name: str) -> LoginRoute | None:
        """Return the login that the login page offers for a name, which is perhaps an address."""
        route = self.find_route(name.strip()[:MAX_ADDRESS])
        if route is None:
            return None
        provider, is_required = route
        labels = button_labels({"en": provider.label})
        return LoginRoute(begin_path(provider.id), labels, is_required=is_required)

    def find_address_owner(self, transaction: Transaction, address: str) -> str | None:
        """Return the tenant that has proven the domain of an address, or ``None``."""
        domain = get_domain(address)
        return None if domain is None else self.proofs.find_owner(transaction, domain)

    def logged_in(self, user_id: str, verified: VerifiedCredential) -> None:
        """Note the login of an administrator of the tenant, and apply the rules of groups."""
        provider = self.find_provider(get_provider_id(verified.credential))
        if provider is None:
            return
        if self._host.users.administers(user_id, provider.tenant_id):
            self._note_tried(provider)
        rules = {
            f"{number}": rule.for_groups(provider.tenant_id)
            for number, rule in enumerate(provider.rules)
            if rule.group is not None
        }
        if self._host.users.administers(provider.owner_id, provider.tenant_id):
            groups = GroupRules(self._host, provider.owner_id, provider.id, rules)
            groups.apply(user_id, verified.context)
        elif rules:
            logger.warning(
                "The rules of groups of the provider %s wait for an administrator, because the one who "
                "changed it last no longer administers the tenant",
                provider.id,
            )

    def handle(self, event: Event) -> None:
        """Apply the enforcement to a new member, and watch the break-glass administrators."""
        user_id = event.data["userId"]
        if event.type == MEMBER_ADDED:
            self.providers.enforce_for_member(event.data["tenantId"], user_id)
        # The role of a member, or the second factor, may be another one now.
        self.rules.warn_of_lock_out(user_id)

    def deactivate(self, transaction: Transaction, deactivation: Deactivation) -> None:
        """Remember whose membership has ended, and forget users who were deleted."""
        of_user = break_glass.c.user_id == deactivation.user_id
        if deactivation.is_deletion:
            transaction.execute(delete(break_glass).where(of_user))
            transaction.execute(delete(leavers).where(leavers.c.user_id == deactivation.user_id))
        if deactivation.cause is not DeactivationCause.MEMBERSHIP_END or deactivation.tenant_id is None:
            return
        ours = select(providers.c.id).where(providers.c.tenant_id == deactivation.tenant_id)
        transaction.execute(delete(break_glass).where(of_user, break_glass.c.provider_id.in_(ours)))
        row = {
            "tenant_id": deactivation.tenant_id,
            "user_id": deactivation.user_id,
            "ended_at": self._host.clock.now(),
        }
        insert = _INSERTS[transaction.dialect](leavers)
        transaction.execute(
            insert.on_conflict_do_update(
                index_elements=["tenant_id", "user_id"], set_={"ended_at": insert.excluded.ended_at}
            ),
            [row],
        )

    def erase_tenant(self, tenant_id: str) -> None:
        """Remove what a tenant has."""
        self.providers.erase_tenant(tenant_id)
        self.domains.erase_tenant(tenant_id)
        with self._host.database.write() as tx:
            tx.execute(delete(leavers).where(leavers.c.tenant_id == tenant_id))

    def _note_tried(self, provider: TenantProvider) -> None:
        now = self._host.clock.now()
        is_old = or_(providers.c.tried_at.is_(None), providers.c.tried_at < now - _MINUTE)
        with self._host.database.write() as tx:
            tx.execute(
                update(providers).where(and_(providers.c.id == provider.id, is_old)).values(tried_at=now)
            )
