"""What the single sign-on of tenants demands of logins, in their transactions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from sqlalchemy import or_, select

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import Credential, VerifiedCredential
from strongroom.plugin_api.login_conditions import LoginFacts
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.tenants import MemberRole
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_login_oidc.groups import matches
from strongroom_login_sso.administrators import Administrators
from strongroom_login_sso.errors import (
    ACCOUNT_ELSEWHERE,
    DOMAIN_ELSEWHERE,
    NOT_INVITED,
    PROVIDER_GONE,
    REQUIRED,
)
from strongroom_login_sso.models import (
    TenantProvider,
    break_glass,
    domains,
    leavers,
    providers,
)
from strongroom_login_sso.names import get_domain
from strongroom_login_sso.paths import SSO, begin_path
from strongroom_login_sso.proofs import Proofs
from strongroom_login_sso.provider import KIND

_ADMIN: Final = "admin"
_EMAIL: Final = "email"
_PAGES: Final = 100
"""Pages of members that are searched for administrators."""


@dataclass(frozen=True, slots=True)
class _Enforcement:
    """A provider that people with addresses in a domain must use."""

    provider_id: str
    tenant_id: str


@dataclass(slots=True, eq=False, repr=False)
class LoginRules:
    """Accepts or refuses logins, whatever their method is."""

    _host: HostAPI
    _proofs: Proofs
    _administrators: Administrators

    def check(self, transaction: Transaction, login: LoginFacts) -> None:
        """Accept a login, and make its user a member of the tenant of its provider.

        Raises:
            ApiError: the login is refused.
        """
        tenant_id = None
        if login.method == SSO and login.verified is not None:
            tenant_id = self._join(transaction, login, login.verified)
        self._require_provider(transaction, login, tenant_id)

    def _join(self, tx: Transaction, login: LoginFacts, verified: VerifiedCredential) -> str:
        """Return the tenant of a login by its provider, which the user is or becomes a member of."""
        ours = select(providers).where(providers.c.id == get_provider_id(verified.credential))
        # The removal of a provider waits for its logins, and then ends them.
        row = tx.first(ours.with_for_update(read=True))
        if row is None:
            raise ApiError(PROVIDER_GONE)
        provider = TenantProvider.from_row(row)
        addresses = [item.credential for item in verified.contacts if item.counts]
        if not addresses or not all(
            self._proofs.has_proven(tx, provider.tenant_id, get_domain(item.value)) for item in addresses
        ):
            # The proof has ended since the provider's answer, such as during a second factor.
            raise ApiError(DOMAIN_ELSEWHERE)
        roles = login.find_roles()
        if provider.tenant_id in roles:
            return provider.tenant_id
        if login.is_by_contact and roles:
            # Otherwise the tenant could enter the spaces of others by an address of theirs.
            raise ApiError(ACCOUNT_ELSEWHERE)
        if not provider.joins or self._has_left(tx, provider.tenant_id, login.user_id):
            raise ApiError(NOT_INVITED)
        role = choose_role(provider, verified.context)
        login.add_member(provider.tenant_id, cast("MemberRole", role))
        return provider.tenant_id

    def _has_left(self, tx: Transaction, tenant_id: str, user_id: str) -> bool:
        query = select(leavers.c.user_id).where(
            leavers.c.tenant_id == tenant_id, leavers.c.user_id == user_id
        )
        return tx.scalar(query) is not None

    def _require_provider(self, tx: Transaction, login: LoginFacts, tenant_id: str | None) -> None:
        """Require the provider of each tenant that enforces it for an address or an id of its member.

        The id counts as well, because a member may replace the address by a private one.

        A login by a provider of one of these tenants is enough.

        Args:
            tenant_id: the tenant whose provider the login is by.
        """
        if login.is_administrator:
            # A tenant must not lock out administrators of the server.
            return
        enforced = self._find_enforced(tx, login.find_credentials())
        if not enforced:
            return
        roles = login.find_roles()
        due = [item for item in enforced if item.tenant_id in roles]
        if tenant_id in {item.tenant_id for item in due}:
            return
        for item in due:
            is_admin = roles[item.tenant_id] == _ADMIN
            if not (is_admin and login.has_second_factor and self._is_named(tx, item, login.user_id)):
                path = begin_path(item.provider_id)
                raise ApiError(REQUIRED, details=[FieldError("loginPath", "sso-login", path)])
            login.after_login(partial(self._report_break_glass, item, login.user_id, login.method))

    def _find_enforced(
        self, tx: Transaction, credentials: Collection[Credential]
    ) -> Sequence[_Enforcement]:
        names = {get_domain(item.value) for item in credentials if item.kind == _EMAIL} - {None}
        ids = {get_provider_id(item) for item in credentials if item.kind == KIND}
        if not names and not ids:
            return ()
        query = (
            select(providers.c.id, providers.c.tenant_id, providers.c.created_at)
            # Without a proven domain, the provider logs in no one, so it must not be required.
            .join(domains, domains.c.tenant_id == providers.c.tenant_id)
            .where(
                providers.c.enforced,
                or_(domains.c.domain.in_(names), providers.c.id.in_(ids)),
                self._proofs.condition(),
            )
            .order_by(providers.c.created_at, providers.c.id)
            .distinct()
        )
        return [_Enforcement(row.id, row.tenant_id) for row in tx.all(query)]

    def _is_named(self, tx: Transaction, item: _Enforcement, user_id: str) -> bool:
        query = select(break_glass.c.user_id).where(
            break_glass.c.provider_id == item.provider_id, break_glass.c.user_id == user_id
        )
        return tx.scalar(query) is not None

    def _report_break_glass(self, item: _Enforcement, user_id: str, method: str) -> None:
        """Record a login of a break-glass administrator, and inform the other ones."""
        host = self._host
        details = {"tenant": item.tenant_id, "user": user_id, "method": method}
        host.audit("break-glass", "identity-provider", item.provider_id, details)
        for administrator in self._other_administrators(item.tenant_id, user_id):
            host.notify(administrator, _SUBJECT, _TEXT)

    def warn_of_lock_out(self, user_id: str) -> None:
        """Warn administrators of tenants where no one can log in without the provider any more.

        Args:
            user_id: the user whose second factor or role has changed.
        """
        named = select(break_glass.c.provider_id).where(break_glass.c.user_id == user_id)
        query = (
            select(providers.c.tenant_id, break_glass.c.user_id)
            .join(break_glass, break_glass.c.provider_id == providers.c.id)
            .where(providers.c.enforced, providers.c.id.in_(named))
        )
        with self._host.database.read() as tx:
            rows = tx.all(query)
        for tenant_id in {row.tenant_id for row in rows}:
            user_ids = [row.user_id for row in rows if row.tenant_id == tenant_id]
            if not any(self._administrators.can_log_in_alone(tenant_id, item) for item in user_ids):
                for administrator in {user_id, *self._other_administrators(tenant_id, user_id)}:
                    self._host.notify(administrator, _LOCK_OUT_SUBJECT, _LOCK_OUT_TEXT)

    def _other_administrators(self, tenant_id: str, user_id: str) -> list[str]:
        administrators: list[str] = []
        page: int | None = 1
        with self._host.acting_as(user_id):
            while page is not None and page <= _PAGES:
                members = self._host.tenants.members(tenant_id, page=page)
                administrators += [item.user_id for item in members.items if item.role == _ADMIN]
                page = members.next
        return [item for item in administrators if item != user_id]


_SUBJECT: Final = "A login without single sign-on"
_TEXT: Final = (
    "An administrator has logged in to your space without its single sign-on. If none of you did, end "
    "the logins of this administrator, and check the space."
)

_LOCK_OUT_SUBJECT: Final = "No login without single sign-on"
_LOCK_OUT_TEXT: Final = (
    "Your space requires single sign-on, and none of its administrators for emergencies has two-step "
    "verification now. If the provider fails, none of you can log in. Choose such an administrator on "
    "the page Single sign-on of the space."
)


def get_provider_id(credential: Credential) -> str:
    """Return the id of the provider in a credential of the kind ``sso``."""
    return credential.value.partition(":")[0]


def choose_role(provider: TenantProvider, claims: Mapping[str, Any]) -> str:
    """Return the role of a new member: the first rule's that has one, or the provider's."""
    for rule in provider.rules:
        if rule.role is not None and matches(rule.for_groups(provider.tenant_id), claims):
            return rule.role
    return provider.default_role
