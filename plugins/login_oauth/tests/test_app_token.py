"""All workers and nodes use one token of an app."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from strongroom.plugin_api.state import ValueStore
from strongroom.testing.clock import ManualClock
from strongroom.testing.state import opened_plugin
from strongroom_login_oauth.app_token import (
    FETCH_SECONDS,
    MAX_LIFE,
    RENEWAL_MARGIN,
    AppToken,
    Token,
)
from strongroom_login_oauth.errors import Misconfigured, ProviderUnavailable, TokenRefused
from strongroom_login_oauth.memory import MemoryValues

PROCESSES = 16


class Platform:
    """Issues tokens, of which only the last one is valid."""

    def __init__(self) -> None:
        self.fetches = 0
        self._lock = threading.Lock()

    def fetch(self) -> Token:
        with self._lock:
            self.fetches += 1
            return Token(f"token-{self.fetches}", 7200)

    def serve(self, token: str) -> str:
        if token != f"token-{self.fetches}":
            raise TokenRefused("40014")
        return token


@dataclass(frozen=True)
class Nodes:
    """What all processes share."""

    values: ValueStore
    clock: ManualClock
    platform: Platform

    def token(self) -> AppToken:
        """Return the token as a further process has it."""
        return AppToken(
            "token.app", self.platform.fetch, values=lambda: self.values, clock=lambda: self.clock
        )


@pytest.fixture(params=["memory", "server"])
def nodes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Nodes]:
    if request.param == "memory":
        clock = ManualClock()
        yield Nodes(MemoryValues(clock), clock, Platform())
        return
    with opened_plugin(tmp_path, "login_wechat") as opened:
        yield Nodes(opened.host.values, opened.clock, Platform())


def at_once(actions: Sequence[Callable[[], str]]) -> list[str]:
    start = threading.Barrier(len(actions))

    def run(action: Callable[[], str]) -> str:
        start.wait(60)
        return action()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


def test_processes_fetch_one_token(nodes: Nodes) -> None:
    assert set(at_once([nodes.token().get for _ in range(PROCESSES)])) == {"token-1"}
    assert nodes.platform.fetches == 1


def test_threads_fetch_one_token(nodes: Nodes) -> None:
    assert set(at_once([nodes.token().get] * PROCESSES)) == {"token-1"}
    assert nodes.platform.fetches == 1


def test_a_refused_token_is_replaced_once(nodes: Nodes) -> None:
    tokens = [nodes.token() for _ in range(PROCESSES)]
    assert {token.get() for token in tokens} == {"token-1"}
    nodes.platform.fetch()
    uses = [partial(token.use, nodes.platform.serve) for token in tokens]
    assert set(at_once(uses)) == {"token-3"}
    assert nodes.platform.fetches == 3


def test_a_token_is_renewed_before_its_end(nodes: Nodes) -> None:
    token, other = nodes.token(), nodes.token()
    assert token.get() == other.get() == "token-1"
    nodes.clock.advance(7_079_000)
    assert token.get() == "token-1"
    nodes.clock.advance(2_000)
    assert token.get() == other.get() == "token-2"
    assert nodes.platform.fetches == 2


def test_a_token_that_is_refused_again_is_unavailable(nodes: Nodes) -> None:
    def refuse(token: str) -> str:
        raise TokenRefused(token)

    with pytest.raises(ProviderUnavailable):
        nodes.token().use(refuse)
    assert nodes.platform.fetches == 2


def test_a_failure_of_one_process_lets_the_next_one_try(nodes: Nodes) -> None:
    def fail() -> Token:
        raise Misconfigured("40013")

    broken = AppToken("token.app", fail, values=lambda: nodes.values, clock=lambda: nodes.clock)
    with pytest.raises(Misconfigured):
        broken.get()
    assert nodes.token().get() == "token-1"


def test_a_process_that_was_killed_blocks_the_others_for_a_while_only(nodes: Nodes) -> None:
    nodes.values.put("token.app.turn", True, expires_at=nodes.clock.now() + FETCH_SECONDS * 1000)
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        nodes.clock.advance(int(seconds * 1000))

    token = AppToken(
        "token.app",
        nodes.platform.fetch,
        values=lambda: nodes.values,
        clock=lambda: nodes.clock,
        sleep=sleep,
    )
    with pytest.raises(ProviderUnavailable):
        token.get()
    assert sum(pauses) == pytest.approx(FETCH_SECONDS)
    assert token.get() == "token-1"


def test_the_life_of_a_token_has_a_limit(nodes: Nodes) -> None:
    fetch = partial(Token, "token-0", 2**53 - 1)
    token = AppToken("token.app", fetch, values=lambda: nodes.values, clock=lambda: nodes.clock)
    assert token.get() == "token-0"
    nodes.clock.advance((MAX_LIFE - RENEWAL_MARGIN) * 1000)
    assert nodes.token().get() == "token-1"


def test_a_refused_token_that_the_platform_still_returns_is_renewed_once(nodes: Nodes) -> None:
    renewals = []

    def renew() -> Token:
        renewals.append(1)
        return Token("renewed", 7200)

    tokens = [
        AppToken(
            "token.app",
            partial(Token, "stable", 7200),
            renew=renew,
            values=lambda: nodes.values,
            clock=lambda: nodes.clock,
        )
        for _ in range(4)
    ]
    assert {token.get() for token in tokens} == {"stable"}
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda token: token.replace("stable"), tokens)) == {"renewed"}
    assert len(renewals) == 1
