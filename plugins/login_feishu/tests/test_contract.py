"""The contract of logins by redirect, against the simulator."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from tests.support.feishu import decide

from strongroom.testing.server import LiveServer
from strongroom_login_feishu.method import FeishuLogin
from strongroom_login_oauth.testing import (
    MEMBER,
    OTHER,
    OUTSIDER,
    Harness,
    LiveAnswersContract,
    OAuthLoginContract,
    ProviderAnswersContract,
    SpoiledServer,
    contract_server,
    spoiled_server,
)
from strongroom_login_oauth.testing.harness import Through, parameters_of
from strongroom_simulators.feishu import TENANT, Simulator, sample_app, sample_platform

PEOPLE: Final = {MEMBER: "lin", OTHER: "wei", OUTSIDER: "eve"}


class FeishuHarness(Harness):
    """Two members of a company, and an outsider of another one."""

    method = FeishuLogin
    plugin = "login_feishu"

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator
        self.app = next(iter(simulator.platform.apps.values()))

    def options(self, through: Through) -> Mapping[str, Any]:
        url = through(self.simulator.url)
        main = {"app_id": self.app.app_id, "app_secret": self.app.app_secret}
        addresses = {"accounts_url": url, "open_url": url}
        return {"apps": {"main": {**main, "allowed_tenants": [TENANT], **addresses}}}

    def approve(self, url: str, person: str = MEMBER) -> str:
        return self._decide(url, PEOPLE.get(person, person), "confirm")

    def refuse(self, url: str) -> str:
        return self._decide(url, "lin", "deny")

    def _decide(self, url: str, person: str, decision: str) -> str:
        # The server has another port in each test.
        redirect = parameters_of(url)["redirect_uri"]
        self.app.redirect_uris = (redirect,)
        page = f"{self.simulator.url}/{url.split('/', 3)[3]}"
        return f"{redirect}?{urlencode(decide(page, person, decision))}"

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.app.app_secret,)


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Simulator(sample_platform(sample_app())) as simulator:
        yield FeishuHarness(simulator)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
        yield server


@pytest.fixture(scope="module")
def spoiled(
    tmp_path_factory: pytest.TempPathFactory, harness: Harness, shared_database_url: str
) -> Iterator[SpoiledServer]:
    folder = tmp_path_factory.mktemp("spoiled")
    with spoiled_server(folder, harness, database_url=shared_database_url) as spoiled:
        yield spoiled


class TestLogin(OAuthLoginContract):
    pass


class TestAnswers(ProviderAnswersContract):
    pass


class TestLiveAnswers(LiveAnswersContract):
    pass
