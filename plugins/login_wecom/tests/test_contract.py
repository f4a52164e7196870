"""The contract of logins by redirect, against the simulator."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from tests.support.live_answers import LiveAnswersOnEachDatabase
from tests.support.platform_contacts import NEVER
from tests.support.wecom import IN_APP, WeCom, wecom

from strongroom.plugin_api.login import Credential
from strongroom.testing.server import LiveServer
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
    make_email,
    make_mobile,
)
from strongroom_login_oauth.testing.harness import Through, query_parameters
from strongroom_login_wecom.method import WeComLogin
from strongroom_simulators.wecom.registry import Person
from strongroom_simulators.wecom.samples import CORPORATION

PEOPLE: Final = {MEMBER: "lin", OTHER: "wei", OUTSIDER: "ren"}


class WeComHarness(Harness):
    """Two members, and an outsider who opens the link in the app: the other page gives no code."""

    method = WeComLogin
    plugin = "login_wecom"

    def __init__(self, platform: WeCom) -> None:
        self.platform = platform

    def options(self, through: Through) -> Mapping[str, Any]:
        app = self.platform.app
        main = {"corpid": app.corpid, "agentid": app.agentid, "secret": app.secret}
        pages = {"login_url": self.platform.url, "open_url": self.platform.url}
        return {**pages, "api_url": through(self.platform.url), "apps": {"main": main}}

    def begin_minute(self) -> None:
        self.platform.platform.tokens.limit.forget()

    def approve(self, url: str, person: str = MEMBER) -> str:
        if person != OUTSIDER:
            user_agent = IN_APP if "/connect/" in url else ""
            return self.platform.visit(url, PEOPLE.get(person, person), user_agent=user_agent)
        query = query_parameters(url)
        code = self.platform.code(PEOPLE[OUTSIDER])
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def refuse(self, url: str) -> str:
        return self.platform.visit(url, "lin", refuse=True)

    @property
    def secrets(self) -> tuple[str, ...]:
        token = self.platform.platform.tokens.get(self.platform.app)["access_token"]
        return self.platform.app.secret, str(token)


class WeComContacts(OAuthContacts):
    """Members in the app. An address that a member chooses is unproven."""

    never = NEVER["wecom"]
    user_agent = IN_APP

    def __init__(self, platform: WeCom) -> None:
        super().__init__(WeComHarness(platform))
        self.trust = {"contact_data": True}
        self._platform = platform
        # The app is visible to all members.
        platform.app.visible_to = None

    def join(self, person: str, state: str, number: int) -> Credential:
        contact = make_email(number) if state == UNPROVEN else make_mobile(number)
        stated = {contact.kind: contact.value}
        self._platform.platform.add_person(Person(person, person, person, CORPORATION, stated))
        return contact

    def leave(self, person: str) -> bool:
        self._platform.platform.remove(person)
        return True


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with wecom() as platform:
        yield WeComHarness(platform)


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
    with wecom() as platform:
        yield WeComContacts(platform)


class TestContacts(ContactsContract):
    """The users of contacts of the platform."""
