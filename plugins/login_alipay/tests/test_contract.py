"""The contract of logins by redirect, against the simulator."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from tests.support.alipay import alipay_app, decide
from tests.support.live_answers import LiveAnswersOnEachDatabase
from tests.support.platform_contacts import NEVER

from strongroom.plugin_api.login import Credential
from strongroom.testing.server import LiveServer
from strongroom_login_alipay.method import AlipayLogin
from strongroom_login_oauth.testing import (
    MEMBER,
    OTHER,
    ContactsContract,
    Harness,
    OAuthContacts,
    OAuthLoginContract,
    PlatformContacts,
    ProviderAnswersContract,
    contract_server,
    make_mobile,
)
from strongroom_login_oauth.testing.harness import Through, query_parameters
from strongroom_simulators.alipay import KeyPair, Simulator, sample_app, sample_platform
from strongroom_simulators.alipay.registry import Person

PEOPLE: Final = {MEMBER: "lin", OTHER: "wei"}


class AlipayHarness(Harness):
    """Two people; the platform has no organisations, and tells no used code from an unknown one."""

    method = AlipayLogin
    plugin = "login_alipay"
    has_outsiders = False

    def __init__(self, simulator: Simulator, app_keys: KeyPair) -> None:
        self.simulator = simulator
        self.app_keys = app_keys
        self.app = next(iter(simulator.platform.apps.values()))

    def options(self, through: Through) -> Mapping[str, Any]:
        app = alipay_app(self.simulator, self.app_keys)
        return {"apps": {"main": {**app, "gateway_url": through(self.simulator.url)}}}

    def approve(self, url: str, person: str = MEMBER) -> str:
        return self._decide(url, PEOPLE.get(person, person), "confirm")

    def refuse(self, url: str) -> str:
        return self._decide(url, "lin", "deny")

    def _decide(self, url: str, person: str, decision: str) -> str:
        # The server has another port in each test.
        redirect = query_parameters(url)["redirect_uri"]
        self.app.redirect_uris = (redirect,)
        return f"{redirect}?{urlencode(decide(url, person, decision))}"

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.app_keys.private_text(is_pem=False),)


class AlipayContacts(OAuthContacts):
    """People with a name only."""

    never = NEVER["alipay"]

    def __init__(self, harness: AlipayHarness) -> None:
        super().__init__(harness)
        self._platform = harness.simulator.platform

    def join(self, person: str, state: str, number: int) -> Credential:
        contact = make_mobile(number)
        self._platform.add_person(Person(person, contact.value))
        return contact


@pytest.fixture(scope="module")
def harness(app_keys: KeyPair, alipay_keys: KeyPair) -> Iterator[Harness]:
    platform = sample_platform(sample_app(app_keys.public), keys=alipay_keys)
    with Simulator(platform) as simulator:
        yield AlipayHarness(simulator, app_keys)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
        yield server


class TestLogin(OAuthLoginContract):
    pass


class TestAnswers(ProviderAnswersContract):
    pass


@pytest.mark.extended  # as in the plugin login_oauth, whose client all platforms share
class TestLiveAnswers(LiveAnswersOnEachDatabase):
    pass


@pytest.fixture(scope="module")
def contacts(harness: AlipayHarness) -> PlatformContacts:
    return AlipayContacts(harness)


class TestContacts(ContactsContract):
    """The users of contacts of the platform."""
