"""People who have left their organisation lose access within five minutes."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import pytest

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.logins import LiveCredential
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom.testing.state import Run
from strongroom_login_oauth.errors import ProviderUnavailable
from strongroom_login_oauth.members import PAGE, THREADS, MemberCheck, MembersUnknown
from strongroom_login_oauth.memory import MemoryValues
from strongroom_login_oauth.method import OAuthLogin
from strongroom_login_oauth.options import LOG_OUT, SUSPEND
from strongroom_login_oauth.provider import Provider

PEOPLE = 5000


@dataclass
class Company(Provider):
    """Answers about its members, and counts how many requests there are at once."""

    clock: ManualClock
    left: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    is_down: bool = False
    asked: dict[str, int] = field(default_factory=dict)
    most: int = 0
    _open: int = 0
    _lock: Any = field(default_factory=threading.Lock)

    def is_member(self, credential: Credential) -> bool | None:
        with self._lock:
            self._open += 1
            self.most = max(self.most, self._open)
            self.asked[credential.value] = self.clock.now()
        try:
            if self.is_down or credential.value in self.broken:
                raise ProviderUnavailable("down")
            return credential.value not in self.left
        finally:
            with self._lock:
                self._open -= 1

    def authorize_url(self, start: object) -> str:
        raise NotImplementedError

    def identify(self, answer: object) -> Any:
        raise NotImplementedError


@dataclass
class Logins:
    """The people with live logins, whose pages take some time."""

    clock: ManualClock
    people: list[str]
    page_milliseconds: int = 0
    suspended: list[str] = field(default_factory=list)
    logged_out: list[str] = field(default_factory=list)

    def credentials(self, kind: str, *, after: str = "", size: int = 500) -> Sequence[LiveCredential]:
        self.clock.advance(self.page_milliseconds)
        live = sorted(name for name in self.people if name > after)
        return [LiveCredential(Credential(kind, name), f"user-{name}") for name in live[:size]]

    def suspend(self, credential: Credential, *, reason: str) -> bool:
        assert reason
        self.people.remove(credential.value)
        self.suspended.append(credential.value)
        return True

    def end(self, credential: Credential, *, session: str | None = None) -> int:
        self.people.remove(credential.value)
        self.logged_out.append(credential.value)
        return 1


@dataclass
class Server:
    """A server whose job runs each minute."""

    clock: ManualClock
    company: Company
    logins: Logins
    values: MemoryValues
    on_leave: str = SUSPEND
    failures: int = 0

    def run(self) -> None:
        options = SimpleNamespace(on_leave=self.on_leave)
        login = SimpleNamespace(name="acme", platform="Acme", kinds=("acme",), options=options)
        check = MemberCheck(cast("HostAPI", self), cast("OAuthLogin[Any]", login), [self.company])
        try:
            check.run(Run())
        except MembersUnknown:
            self.failures += 1

    def minutes(self, number: int) -> None:
        for _ in range(number):
            self.clock.advance(MINUTE)
            self.run()


def name_of(number: int) -> str:
    return f"{number:05}"


@pytest.fixture
def server() -> Server:
    clock = ManualClock()
    people = [name_of(number) for number in range(PEOPLE)]
    return Server(clock, Company(clock), Logins(clock, people), MemoryValues(clock))


@pytest.mark.parametrize("leaver", [0, PAGE - 1, PAGE, PEOPLE - 1])
def test_a_leaver_among_thousands_is_suspended_within_four_minutes(server: Server, leaver: int) -> None:
    server.minutes(7)
    server.company.left = {name_of(leaver)}
    server.minutes(4)
    assert server.logins.suspended == [name_of(leaver)]


def test_each_person_is_checked_every_four_minutes(server: Server) -> None:
    server.minutes(1)
    for _ in range(12):
        server.minutes(1)
        oldest = min(server.company.asked[name] for name in server.logins.people)
        assert server.clock.now() - oldest < 4 * MINUTE
    assert len(server.company.asked) == PEOPLE


def test_a_slow_round_goes_on_where_the_run_before_has_stopped(server: Server) -> None:
    server.logins.page_milliseconds = 5_000
    server.minutes(1)
    first = len(server.company.asked)
    assert PAGE <= first < PEOPLE
    while len(server.company.asked) < PEOPLE:
        before = dict(server.company.asked)
        server.minutes(1)
        assert not any(server.company.asked[name] != before[name] for name in before)


def test_the_users_of_leavers_are_logged_out_if_configured(server: Server) -> None:
    server.on_leave, server.company.left = LOG_OUT, {name_of(7), name_of(4321)}
    server.minutes(1)
    assert server.logins.logged_out == [name_of(7), name_of(4321)]
    assert server.logins.suspended == []


def test_a_platform_that_is_down_ends_nothing_and_is_asked_again(server: Server) -> None:
    server.company.is_down, server.company.left = True, {name_of(3)}
    server.minutes(3)
    assert (server.failures, server.logins.suspended) == (3, [])
    assert len(server.company.asked) <= PAGE
    server.company.is_down = False
    server.minutes(1)
    assert (server.failures, server.logins.suspended) == (3, [name_of(3)])


def test_a_person_without_an_answer_keeps_no_other_from_being_checked(server: Server) -> None:
    server.company.broken = {name_of(0)}
    server.company.left = {name_of(0), name_of(PEOPLE - 1)}
    server.minutes(2)
    assert (server.failures, server.logins.suspended) == (2, [name_of(PEOPLE - 1)])
    server.company.broken = set()
    server.minutes(1)
    assert name_of(0) in server.logins.suspended


def test_few_requests_are_sent_at_once(server: Server) -> None:
    server.minutes(1)
    assert 1 <= server.company.most <= THREADS


def test_a_stopping_server_leaves_the_rest_to_another(server: Server) -> None:
    login = SimpleNamespace(name="acme", platform="Acme", kinds=("acme",), options=None)
    host, method = cast("HostAPI", server), cast("OAuthLogin[Any]", login)
    MemberCheck(host, method, [server.company]).run(Run(should_stop=True))
    assert server.company.asked == {}
    server.minutes(1)
    assert len(server.company.asked) == PEOPLE
