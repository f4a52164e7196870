"""The plugin keeps the contract of logins by redirect, with the simulated DingTalk."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import requests
from tests.support.dingtalk import DingTalk, app_options, dingtalk
from tests.support.live_answers import LiveAnswersOnEachDatabase
from tests.support.platform_contacts import NEVER

from strongroom.plugin_api.login import Credential
from strongroom.testing.server import LiveServer
from strongroom_login_dingtalk.method import DingTalkLogin
from strongroom_login_oauth.testing import (
    MEMBER,
    OTHER,
    OUTSIDER,
    UNPROVEN,
    ContactsContract,
    Harness,
    OAuthContacts,
    OAuthLoginContract,
    PlatformContacts,
    ProviderAnswersContract,
    contract_server,
    make_mobile,
)
from strongroom_login_oauth.testing.harness import Through
from strongroom_simulators.dingtalk import MOBILE_RIGHT
from strongroom_simulators.dingtalk.registry import Person
from strongroom_simulators.dingtalk.samples import COMPANY

PEOPLE = {MEMBER: "lin", OTHER: "wei", OUTSIDER: "ada"}


class DingTalkHarness(Harness):
    """A simulated DingTalk."""

    method = DingTalkLogin
    plugin = "login_dingtalk"

    def __init__(self, dingtalk: DingTalk) -> None:
        self._dingtalk = dingtalk

    def options(self, through: Through) -> Mapping[str, Any]:
        url = through(self._dingtalk.url)
        urls = {"login_url": self._dingtalk.url, "api_url": url, "oapi_url": url}
        return {**urls, "apps": {"main": app_options(self._dingtalk.app)}}

    def begin_minute(self) -> None:
        for limit in (self._dingtalk.platform.new_calls, self._dingtalk.platform.old_calls):
            limit.forget()

    def approve(self, url: str, person: str = MEMBER) -> str:
        return self._decide(url, "confirm", PEOPLE.get(person, person))

    def refuse(self, url: str) -> str:
        return self._decide(url, "refuse", PEOPLE[MEMBER])

    @property
    def secrets(self) -> tuple[str, ...]:
        platform = self._dingtalk.platform
        tokens = (*platform.person_tokens._codes, *platform.app_tokens._apps)
        return (self._dingtalk.app.client_secret, *tokens)

    def _decide(self, url: str, decision: str, person: str) -> str:
        form = {"person": person, "decision": decision}
        response = requests.post(url, data=form, allow_redirects=False, timeout=30)
        assert response.status_code == 302, response.text
        return response.headers["Location"]


class DingTalkContacts(OAuthContacts):
    """Members of the company. The number of an account that the company owns is unproven."""

    never = NEVER["dingtalk"]

    def __init__(self, dingtalk: DingTalk) -> None:
        super().__init__(DingTalkHarness(dingtalk))
        self.trust = {"trust_mobile": True}
        self._platform = dingtalk.platform

    def join(self, person: str, state: str, number: int) -> Credential:
        contact = make_mobile(number)
        owner = COMPANY if state == UNPROVEN else None
        mobile = contact.value.removeprefix("+86")
        self._platform.add_person(Person(person, person, mobile, exclusive_corp=owner))
        self._platform.join(COMPANY, person)
        return contact

    def leave(self, person: str) -> bool:
        self._platform.leave(COMPANY, person)
        return True


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with dingtalk() as platform:
        # The users of the contract have no contacts.
        platform.app.rights.discard(MOBILE_RIGHT)
        yield DingTalkHarness(platform)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, harness: Harness) -> Iterator[LiveServer]:
    with contract_server(tmp_path_factory.mktemp("server"), harness) as server:
        yield server


@pytest.mark.extended
class TestDingTalk(OAuthLoginContract):
    """The contract on a live server."""


class TestAnswers(ProviderAnswersContract):
    """The contract about answers of the platform."""


@pytest.mark.extended  # as in the plugin login_oauth, whose client all platforms share
class TestLiveAnswers(LiveAnswersOnEachDatabase):
    """The same on a live server."""


@pytest.fixture(scope="module")
def contacts() -> Iterator[PlatformContacts]:
    with dingtalk() as platform:
        yield DingTalkContacts(platform)


class TestContacts(ContactsContract):
    """The users of contacts of the platform."""
