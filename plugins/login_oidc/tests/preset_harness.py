"""Presets on their simulated platforms, as the contracts of logins by redirect need them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from strongroom_login_oauth.testing import MEMBER, OTHER, Harness
from strongroom_login_oauth.testing.harness import Through, query_parameters
from strongroom_login_oidc.method import OIDCLogin
from strongroom_simulators.oidc_providers import (
    CLIENT,
    RegisteredClient,
    Simulator,
    agree,
    refuse,
    sample_provider,
)
from strongroom_simulators.oidc_providers.configuration import provider_section

PEOPLE: Final = {MEMBER: "lin", OTHER: "ada"}
CALLBACK: Final = "/api/v1/oidc-authorizations/callback/"


class PresetHarness(Harness):
    """A platform that everyone with an account may log in at."""

    method = OIDCLogin
    plugin = "login_oidc"
    has_outsiders = False

    def __init__(self, preset: str, simulator: Simulator, folder: Path) -> None:
        self.provider = simulator.provider
        self._simulator = simulator
        self._section = provider_section(preset, simulator.provider, folder / f"{preset}.pem")

    def options(self, through: Through) -> Mapping[str, Any]:
        url = self._simulator.url
        section = {
            name: through(value) if value == url else value for name, value in self._section.items()
        }
        return {"providers": {"main": section}, "allow_insecure_loopback": True}

    def approve(self, url: str, person: str = MEMBER) -> str:
        return self._back(url, agree(self._direct(url), PEOPLE.get(person, person)))

    def refuse(self, url: str) -> str:
        return self._back(url, refuse(self._direct(url)))

    @property
    def secrets(self) -> tuple[str, ...]:
        return (CLIENT.secret,)

    def _direct(self, url: str) -> str:
        """Return the URL of the page without the proxy, which is for requests of the server."""
        parts = urlsplit(url)
        return f"{self._simulator.url}{parts.path}?{parts.query}"

    def _back(self, url: str, answer: Mapping[str, str]) -> str:
        return f"{query_parameters(url)['redirect_uri']}?{urlencode(answer)}"


def _is_callback(_client: RegisteredClient, redirect_uri: str) -> bool:
    parts = urlsplit(redirect_uri)
    return parts.hostname == "127.0.0.1" and parts.path.startswith(CALLBACK)


@contextmanager
def preset_harness(preset: str, folder: Path) -> Iterator[PresetHarness]:
    """Serve the platform of a preset, or of plain OpenID Connect, ``openid``.

    Args:
        folder: a folder for the private key of the client.
    """
    provider: Any = sample_provider(preset)
    provider.accepts_redirect = _is_callback
    with Simulator(provider) as simulator:
        yield PresetHarness(preset, simulator, folder)
