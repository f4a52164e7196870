"""The identity providers of tenants, and whether their people must use them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import delete, func, insert, select, update
from uuid_utils import uuid4

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.outbound import OutboundClient, OutboundPolicy, OutboundRefused
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.state import Transaction
from strongroom.plugin_api.web import ApiError, FieldError
from strongroom_login_sso.administrators import Administrators
from strongroom_login_sso.errors import (
    NO_BREAK_GLASS,
    NOT_TRIED,
    PROVIDER_LIMIT,
    PROVIDER_OUTDATED,
    PROVIDER_REFUSED,
    PROVIDER_UNKNOWN,
)
from strongroom_login_sso.models import TenantProvider, break_glass, domains, providers
from strongroom_login_sso.paths import SSO
from strongroom_login_sso.proofs import Proofs
from strongroom_login_sso.provider import KIND, make_settings

TARGET: Final = "identity-provider"

_HOUR: Final = 60 * 60 * 1000
_COLUMNS: Final = {
    "label": "label",
    "clientId": "client_id",
    "scopes": "scopes",
    "claims": "claims",
    "rules": "rules",
    "defaultRole": "default_role",
    "joins": "joins",
    "addressesVerified": "addresses_verified",
}
_CLAIMS: Final = {"name": "name", "email": "email", "emailVerified": "email_verified"}
_OF_LOGINS: Final = ("client_id", "scopes", "claims", "addresses_verified")
"""The columns that decide whether people can log in, without the secret."""
_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class ProviderView:
    """A provider with its break-glass administrators."""

    provider: TenantProvider
    break_glass_ids: Collection[str]

    @property
    def revision(self) -> int:
        """The revision of the provider."""
        return self.provider.revision


@dataclass(slots=True, eq=False, repr=False)
class IdentityProviders:
    """The providers that administrators of tenants manage."""

    _host: HostAPI
    _administrators: Administrators
    _proofs: Proofs

    def create(self, tenant_id: str, body: Mapping[str, Any]) -> ProviderView:
        """Create a provider of a tenant. Its issuer never changes.

        Raises:
            ApiError: a value is invalid, or the tenant has its maximum of providers.
        """
        owner_id = self._administrators.require(tenant_id)
        self._check_issuer(body["issuer"])
        now = self._host.clock.now()
        row = {
            # Random: the id is in the redirect URI, and a part of credentials.
            "id": str(uuid4()),
            "tenant_id": tenant_id,
            "owner_id": owner_id,
            "issuer": body["issuer"],
            "sealed_secret": self._host.secrets.seal(body["clientSecret"]),
            "enforced": False,
            "revision": 1,
            "created_at": now,
            "updated_at": now,
            **_columns(body),
        }
        self._check_settings(row, body["clientSecret"])
        ours = providers.c.tenant_id == tenant_id
        with self._host.database.write(lock=f"identity providers of {tenant_id}") as tx:
            count = tx.scalar(select(func.count()).select_from(providers).where(ours))
            if count >= self._host.options.providers_per_tenant:
                raise ApiError(PROVIDER_LIMIT)
            tx.execute(insert(providers), [row])
            created = _view(tx, tenant_id, row["id"])
            self._record(tx, "provider-create", created.provider, issuer=created.provider.issuer)
        return created

    def list(self, tenant_id: str, query: Mapping[str, Any]) -> ResultPage[ProviderView]:
        """Return a page of the providers of a tenant, the oldest first."""
        self._administrators.require(tenant_id)
        ours = select(providers).where(providers.c.tenant_id == tenant_id)
        with self._host.database.read() as tx:
            page = tx.page(ours.order_by(providers.c.created_at, providers.c.id), query)
            administrators = _find_break_glass(tx, [row.id for row in page.items])
        return page.map(
            lambda row: ProviderView(TenantProvider.from_row(row), administrators.get(row.id, ()))
        )

    def get(self, tenant_id: str, provider_id: str) -> ProviderView:
        """Return a provider of a tenant."""
        self._administrators.require(tenant_id)
        with self._host.database.read() as tx:
            return _view(tx, tenant_id, provider_id)

    def update(
        self, tenant_id: str, provider_id: str, body: Mapping[str, Any], revision: int | None
    ) -> ProviderView:
        """Change a provider. The caller's rights are then the rights of its rules of groups.

        Raises:
            ApiError: a value is invalid; or the provider cannot be enforced: no administrator has
                logged in by it lately, or none logs in without it.
        """
        owner_id = self._administrators.require(tenant_id)
        values = {**_columns(body), "owner_id": owner_id, "updated_at": self._host.clock.now()}
        if "clientSecret" in body:
            values["sealed_secret"] = self._host.secrets.seal(body["clientSecret"])
        break_glass_ids = body.get("breakGlassIds")
        self._check_break_glass(tenant_id, provider_id, body)
        with self._host.database.write(lock=f"identity providers of {tenant_id}") as tx:
            provider = _view(tx, tenant_id, provider_id).provider
            if revision is not None and revision != provider.revision:
                raise ApiError(PROVIDER_OUTDATED)
            self._check_settings({**_row(provider), **values}, body.get("clientSecret", "unchanged"))
            if break_glass_ids is not None:
                _replace_break_glass(tx, provider_id, break_glass_ids)
            if _changes_logins(provider, values):
                # Whether administrators can log in by the new settings is unknown.
                values["tried_at"] = None
            enforced = body.get("enforced", provider.enforced)
            if enforced:
                tried_at = values.get("tried_at", provider.tried_at)
                self._require_enforceable(tx, provider, tried_at, is_new=not provider.enforced)
            values |= {"enforced": enforced, "revision": provider.revision + 1}
            tx.execute(update(providers).where(providers.c.id == provider_id).values(values))
            updated = _view(tx, tenant_id, provider_id)
            self._record(tx, "provider-update", updated.provider, changed=" ".join(sorted(body)))
        if updated.provider.enforced and not provider.enforced:
            self._end_other_logins(updated)
        return updated

    def delete(self, tenant_id: str, provider_id: str, revision: int | None) -> None:
        """Delete a provider, and end the logins that were made by it."""
        self._administrators.require(tenant_id)
        with self._host.database.write() as tx:
            provider = _view(tx, tenant_id, provider_id).provider
            if revision is not None and revision != provider.revision:
                raise ApiError(PROVIDER_OUTDATED)
            _remove(tx, [provider_id])
            self._record(tx, "provider-delete", provider)
        self._end_logins(provider_id)

    def erase_tenant(self, tenant_id: str) -> None:
        """Remove the providers of a tenant."""
        with self._host.database.write() as tx:
            ours = select(providers.c.id).where(providers.c.tenant_id == tenant_id)
            _remove(tx, tx.scalars(ours))

    def _require_enforceable(
        self, tx: Transaction, provider: TenantProvider, tried_at: int | None, *, is_new: bool
    ) -> None:
        if is_new and (tried_at is None or tried_at < self._host.clock.now() - _HOUR):
            raise ApiError(NOT_TRIED)
        if not _find_break_glass(tx, [provider.id]):
            raise ApiError(NO_BREAK_GLASS)

    def _check_break_glass(self, tenant_id: str, provider_id: str, body: Mapping[str, Any]) -> None:
        """Check new break-glass administrators, and the stored ones before an enforcement begins."""
        user_ids = body.get("breakGlassIds")
        if user_ids is None and body.get("enforced"):
            view = self.get(tenant_id, provider_id)
            user_ids = None if view.provider.enforced else view.break_glass_ids
        self._require_administrators(tenant_id, user_ids or ())

    def _require_administrators(self, tenant_id: str, user_ids: Collection[str]) -> None:
        """Require that users administer a tenant, and have a second factor."""
        for user_id in user_ids:
            if not self._administrators.can_log_in_alone(tenant_id, user_id):
                message = "Must be an administrator of the tenant who has a second factor."
                details = [FieldError("breakGlassIds", "not-an-administrator", message)]
                raise ApiError(NO_BREAK_GLASS, details=details)

    def enforce_for_member(self, tenant_id: str, user_id: str) -> None:
        """End the logins of a new member who must use a provider of the tenant from now on."""
        enforced = select(providers).where(providers.c.tenant_id == tenant_id, providers.c.enforced)
        with self._host.database.read() as tx:
            ours = [TenantProvider.from_row(row) for row in tx.all(enforced)]
            administrators = _find_break_glass(tx, [provider.id for provider in ours])
        for provider in ours:
            view = ProviderView(provider, administrators.get(provider.id, ()))
            self._end_other_logins(view, user_id)

    def _end_other_logins(self, view: ProviderView, user_id: str | None = None) -> None:
        """End the logins of the members who must now use the provider that other methods have made.

        Args:
            user_id: only the logins of this member; ``None``: of all.
        """
        tenant_id = view.provider.tenant_id
        proven = select(domains.c.domain).where(
            domains.c.tenant_id == tenant_id, self._proofs.condition()
        )
        with self._host.database.read() as tx:
            names = tx.scalars(proven)
        if not names:
            # The provider logs in no one, so no one has to use it.
            return
        self._host.logins.end_of_members(
            tenant_id,
            names,
            but_method=SSO,
            but=view.break_glass_ids,
            kind=KIND,
            prefix=f"{view.provider.id}:",
            user_id=user_id,
        )

    def _end_logins(self, provider_id: str) -> None:
        """End the logins that were made by a provider."""
        after, prefix = f"{provider_id}:", f"{provider_id}:"
        while True:
            page = self._host.logins.credentials(KIND, after=after, size=_AT_ONCE)
            ours = [live for live in page if live.credential.value.startswith(prefix)]
            for live in ours:
                self._host.logins.end(live.credential)
            if len(ours) < _AT_ONCE:
                return
            after = ours[-1].credential.value

    def _check_issuer(self, issuer: str) -> None:
        options = self._host.options
        client = OutboundClient(OutboundPolicy(options.allow_hosts, options.allow_http))
        try:
            client.check(issuer)
        except OutboundRefused as error:
            details = [FieldError("issuer", "refused", f"{error}.")]
            raise ApiError(PROVIDER_REFUSED, details=details) from error

    def _check_settings(self, row: Mapping[str, Any], secret: str) -> None:
        """Require what the login by OpenID Connect requires of the settings."""
        members = {"tried_at": None, **row, "rules": ()}
        try:
            make_settings(TenantProvider(**members), secret)
        except ValueError as error:
            field, _, message = str(error).partition(": ")
            raise ApiError(
                PROVIDER_REFUSED, details=[FieldError(field, "invalid", f"Invalid: {message}.")]
            ) from error

    def _record(self, tx: Transaction, action: str, provider: TenantProvider, **details: Any) -> None:
        self._administrators.record(
            tx, action, TARGET, provider.id, provider.tenant_id, **details, enforced=provider.enforced
        )


def _columns(body: Mapping[str, Any]) -> dict[str, Any]:
    values = {column: body[name] for name, column in _COLUMNS.items() if name in body}
    if "claims" in values:
        values["claims"] = {_CLAIMS[name]: text for name, text in values["claims"].items()}
    return values


def _changes_logins(provider: TenantProvider, values: Mapping[str, Any]) -> bool:
    """Return whether new values differ in what decides whether people can log in."""
    if "sealed_secret" in values:
        return True
    return any(name in values and values[name] != getattr(provider, name) for name in _OF_LOGINS)


def _row(provider: TenantProvider) -> dict[str, Any]:
    return {name: getattr(provider, name) for name in TenantProvider.__slots__}


def _view(tx: Transaction, tenant_id: str, provider_id: str) -> ProviderView:
    """Return a provider of a tenant.

    Raises:
        ApiError: the tenant has none of this id.
    """
    row = tx.first(select(providers).where(providers.c.id == provider_id))
    if row is None or row.tenant_id != tenant_id:
        raise ApiError(PROVIDER_UNKNOWN)
    return ProviderView(
        TenantProvider.from_row(row), _find_break_glass(tx, [provider_id]).get(provider_id, ())
    )


def _find_break_glass(tx: Transaction, provider_ids: Collection[str]) -> dict[str, list[str]]:
    if not provider_ids:
        return {}
    administrators: dict[str, list[str]] = {}
    query = select(break_glass).where(break_glass.c.provider_id.in_(provider_ids))
    for row in tx.all(query.order_by(break_glass.c.user_id)):
        administrators.setdefault(row.provider_id, []).append(row.user_id)
    return administrators


def _replace_break_glass(tx: Transaction, provider_id: str, user_ids: Collection[str]) -> None:
    tx.execute(delete(break_glass).where(break_glass.c.provider_id == provider_id))
    rows = [{"provider_id": provider_id, "user_id": item} for item in dict.fromkeys(user_ids)]
    if rows:
        tx.execute(insert(break_glass), rows)


def _remove(tx: Transaction, provider_ids: Collection[str]) -> None:
    tx.execute(delete(break_glass).where(break_glass.c.provider_id.in_(provider_ids)))
    tx.execute(delete(providers).where(providers.c.id.in_(provider_ids)))
