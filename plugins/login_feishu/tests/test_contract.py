"""The contract of logins by redirect, against the simulator."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from tests.support.feishu import decide
from tests.support.live_answers import LiveAnswersOnEachDatabase
from tests.support.platform_contacts import NEVER

from strongroom.plugin_api.login import Credential
from strongroom.testing.server import LiveServer
from strongroom_login_feishu.method import FeishuLogin
from strongroom_login_oauth.testing import (
    MEMBER,
    OTHER,
    OUTSIDER,
    ContactsContract,
    Harness,
    OAuthContacts,
    OAuthLoginContract,
    PlatformContacts,
    ProviderAnswersContract,
    contract_server,
    make_email,
    make_mobile,
)
from strongroom_login_oauth.testing.harness import Through, query_parameters
from strongroom_simulators.feishu import TENANT, Simulator, sample_app, sample_platform
from strongroom_simulators.feishu.registry import CONTACT, EMAIL, EMPLOYMENT, PHONE, Person

PEOPLE: Final = {MEMBER: "lin", OTHER: "wei", OUTSIDER: "eve"}
SCOPES: Final = {CONTACT, EMPLOYMENT, EMAIL, PHONE}


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
        redirect = query_parameters(url)["redirect_uri"]
        self.app.redirect_uris = (redirect,)
        page = f"{self.simulator.url}/{url.split('/', 3)[3]}"
        return f"{redirect}?{urlencode(decide(page, person, decision))}"

    @property
    def secrets(self) -> tuple[str, ...]:
        return (self.app.app_secret,)


class FeishuContacts(OAuthContacts):
    """Members of the company, whose administrator has entered their contacts."""

    never = NEVER["feishu"]

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(FeishuHarness(simulator))
        self._platform = simulator.platform

    def join(self, person: str, state: str, number: int) -> Credential:
        mobile, email = make_mobile(number), make_email(number)
        account = Person(person, person, email=email.value, mobile=mobile.value)
        account.enterprise_email = email.value
        self._platform.add_person(account)
        return email if number % 2 else mobile

    def leave(self, person: str) -> bool:
        self._platform.leave(person)
        return True


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Simulator(sample_platform(sample_app())) as simulator:
        yield FeishuHarness(simulator)


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
def contacts() -> Iterator[PlatformContacts]:
    with Simulator(sample_platform(replace(sample_app(), scopes=SCOPES))) as simulator:
        yield FeishuContacts(simulator)


class TestContacts(ContactsContract):
    """The users of contacts of the platform."""
