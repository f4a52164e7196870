"""The contract of logins by redirect, with presets against their simulated platforms."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

import pytest

from strongroom.testing.server import LiveServer
from strongroom_login_oauth.testing import (
    MEMBER,
    OTHER,
    Harness,
    OAuthLoginContract,
    ProviderAnswersContract,
    contract_server,
)
from strongroom_login_oauth.testing.harness import Through, parameters_of
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


class PresetHarness(Harness):
    """A platform that everyone with an account may log in at."""

    method = OIDCLogin
    plugin = "login_oidc"
    has_outsiders = False

    def __init__(self, preset: str, simulator: Simulator, folder: Path) -> None:
        self._simulator = simulator
        self._section = provider_section(preset, simulator.provider, folder / "key.pem")

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
        return f"{parameters_of(url)['redirect_uri']}?{urlencode(answer)}"


def _is_callback(_client: RegisteredClient, redirect_uri: str) -> bool:
    parts = urlsplit(redirect_uri)
    return parts.hostname == "127.0.0.1" and parts.path == "/api/v1/oidc-authorizations/callback/main"


@pytest.fixture(scope="module", params=["github", "qq"])
def harness(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Harness]:
    preset: str = request.param
    provider: Any = sample_provider(preset)
    provider.admits_redirect = _is_callback
    with Simulator(provider) as simulator:
        yield PresetHarness(preset, simulator, tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
        yield server


@pytest.mark.extended
class TestLogin(OAuthLoginContract):
    pass


class TestAnswers(ProviderAnswersContract):
    @pytest.fixture(autouse=True)
    def leave_out_numbers(self, request: pytest.FixtureRequest) -> None:
        if "github-members that are numbers" in request.node.name:
            pytest.skip("ids of GitHub are numbers, so another number is another person")
