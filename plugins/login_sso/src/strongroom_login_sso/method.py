"""The login method ``sso``: people of a tenant log in by the tenant's own provider."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import ClassVar, Final

from strongroom.plugin_api.login import NewLogin, VerifiedCredential
from strongroom.plugin_api.outbound import OutboundClient, OutboundPolicy
from strongroom.plugin_api.web import ApiError
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.provider import Identity, Provider
from strongroom_login_oidc.provider import Environment
from strongroom_login_sso.errors import REQUIRED
from strongroom_login_sso.guarded_requests import GuardedAdapter
from strongroom_login_sso.models import TenantProvider
from strongroom_login_sso.options import SsoLoginOptions, SsoOptions
from strongroom_login_sso.paths import SELECTOR, SSO
from strongroom_login_sso.provider import KIND, SpaceProvider, make_provider
from strongroom_login_sso.service import SingleSignOn

PLATFORM: Final = "Single sign-on"

MAX_PROVIDERS: Final = 64
"""Providers whose documents a process keeps."""


class SsoLogin(OAuthLogin[SsoLoginOptions]):
    """Handles attempts that name the method ``sso`` and the provider of a tenant."""

    name = SSO
    platform = PLATFORM
    platform_labels: ClassVar[Mapping[str, str]] = {"en": PLATFORM, "zh": "单点登录"}
    kinds = (KIND,)
    selector = SELECTOR
    removal_errors = (REQUIRED,)
    options_type = SsoLoginOptions

    def make_providers(self) -> Mapping[str, Provider]:
        """Return the providers of all tenants, which are looked up by their ids."""
        return SpaceProviders(self._find, self._make)

    def get_prefix(self, name: str) -> str:
        """Return the beginning of the values of a provider's credentials."""
        return f"{name}:"

    def require_removable(self, name: str | None) -> None:
        """Require that no tenant enforces the provider: its members would evade it by the removal."""
        row = None if name is None else self._find(name)
        if name is None or (row is not None and row.enforced):
            raise ApiError(REQUIRED)

    def credential_prefixes(self) -> Mapping[str, Collection[str]]:
        """Return that the credentials of all providers can be verified."""
        return {KIND: [""]}

    def verified(self, provider: Provider, identity: Identity) -> VerifiedCredential:
        """Return the credential of an identity: its tenant has invited the people of its domains."""
        return replace(super().verified(provider, identity), is_invited=True)

    def logged_in(self, login: NewLogin) -> None:
        """Note the login of an administrator, and apply the rules of groups."""
        self._service.logged_in(login.user_id, login.verified)

    def check(self, row: TenantProvider) -> None:
        """Fetch the discovery document and the keys of a provider.

        Raises:
            ProviderError: they cannot be fetched, or are invalid.
            ValueError: a setting is invalid.
        """
        provider = self._make(row)
        try:
            provider.check()
        finally:
            provider.close()

    def _find(self, provider_id: str) -> TenantProvider | None:
        return self._service.find_provider(provider_id)

    def _make(self, row: TenantProvider) -> SpaceProvider:
        options: SsoOptions = self.host.options
        policy = OutboundPolicy(options.allow_hosts, options.allow_http, self.options.read_timeout)
        environment = Environment(
            self.options.connect_timeout,
            self.options.read_timeout,
            lambda url: url.startswith("https://") or options.allow_http,
            self.proofs.identify,
            lambda: self.host.clock.now() / 1000,
            GuardedAdapter(OutboundClient(policy)),
        )
        secret = self.host.secrets.unseal(row.sealed_secret)
        return make_provider(row, secret, environment, partial(self._service.has_proven, row.tenant_id))

    @property
    def _service(self) -> SingleSignOn:
        return self.host.get_service(SingleSignOn)


class SpaceProviders(Mapping[str, Provider]):
    """The providers by id. The row is read each time, and a provider is kept for its revision.

    It iterates over none, because no caller may list the providers of all tenants.
    """

    def __init__(
        self,
        find: Callable[[str], TenantProvider | None],
        make: Callable[[TenantProvider], SpaceProvider],
    ) -> None:
        self._find = find
        self._make = make
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[int, SpaceProvider]] = OrderedDict()

    def __getitem__(self, key: str) -> Provider:
        row = self._find(key)
        if row is None:
            raise KeyError(key)
        with self._lock:
            revision, provider = self._kept.pop(key, (None, None))
            if provider is None or revision != row.revision:
                provider = self._make(row)
            self._kept[key] = (row.revision, provider)
            while len(self._kept) > MAX_PROVIDERS:
                self._kept.popitem(last=False)
        return provider

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
