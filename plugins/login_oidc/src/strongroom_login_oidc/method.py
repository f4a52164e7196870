"""The login method ``oidc``."""

import logging
import time
from collections.abc import Callable, Collection, Mapping
from typing import ClassVar, Final

from strongroom.plugin_api.login import LoginRejected, LogoutRequest, NewLogin, Proofs
from strongroom_login_oauth.errors import ProviderError
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.provider import Identity, Provider
from strongroom_login_oidc.groups import GroupRules
from strongroom_login_oidc.options import OIDCOptions
from strongroom_login_oidc.people import KIND, parse_session
from strongroom_login_oidc.presets import make_provider
from strongroom_login_oidc.provider import Environment, OIDCProvider

logger = logging.getLogger(__name__)

PLATFORM: Final = "OpenID Connect"


class OIDCLogin(OAuthLogin[OIDCOptions]):
    """Handles attempts that name the method ``oidc`` and one of its providers."""

    name = "oidc"
    platform = PLATFORM
    platform_labels: ClassVar[Mapping[str, str]] = {"en": PLATFORM, "zh": PLATFORM}
    kinds = (KIND,)
    parameters = ("iss", "user")
    selector = "provider"
    options_type = OIDCOptions

    def __init__(
        self, options: OIDCOptions, proofs: Proofs, *, clock: Callable[[], float] | None = None
    ) -> None:
        self._clock = clock or self._server_time
        super().__init__(options, proofs)

    def make_providers(self) -> Mapping[str, Provider]:
        """Return the configured providers by name."""
        options = self.options
        environment = Environment(
            options.connect_timeout,
            options.read_timeout,
            options.allows_url,
            self.proofs.identify,
            self._clock,
        )
        return {
            name: make_provider(name, provider, environment)
            for name, provider in options.providers.items()
        }

    def get_prefix(self, name: str) -> str:
        """Return the beginning of the values of a provider's credentials: each is a platform."""
        return f"{name}:"

    def logged_in(self, login: NewLogin) -> None:
        """Give and take the memberships of the provider's rules."""
        name = login.verified.credential.value.partition(":")[0]
        administrator, provider = self.options.administrator_id, self.options.providers.get(name)
        if administrator is not None and provider is not None:
            rules = GroupRules(self.host, administrator, name, provider.groups)
            rules.apply(login.user_id, login.verified.context)

    def now(self) -> float:
        """Return the time in seconds."""
        return self._clock()

    def logout_url(self, logout: LogoutRequest) -> str | None:
        """Return the page of the provider that ends the session there, if it has one."""
        provider, session = parse_session(logout.session)
        client = self.providers.get(provider)
        if not isinstance(client, OIDCProvider):
            return None
        try:
            return client.logout_url(session, logout.return_url)
        except ProviderError as error:
            logger.warning("The logout does not lead to %s: %s", provider, error)
            return None

    def credential_prefixes(self) -> Mapping[str, Collection[str]]:
        """Return the beginnings of the credentials of the configured providers."""
        return {KIND: [f"{name}:" for name in self.providers]}

    def _identify(self, name: str, provider: Provider, proof: Mapping[str, str]) -> Identity:
        """Return the identity of an answer; the log has the check that refused it."""
        try:
            return super()._identify(name, provider, proof)
        except LoginRejected as refusal:
            logger.warning("the answer of the provider %s was refused: %s", name, refusal)
            raise

    def _server_time(self) -> float:
        """Return the server's time in seconds, which tests replace; commands have no server."""
        return time.time() if self._host is None else self._host.clock.now() / 1000
