"""The contract about answers of the platform: garbage is no login and no fault of the server."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import pytest

from strongroom.plugin_api.login import LoginRejected, LoginUnavailable, VerifiedCredential
from strongroom_login_oauth.testing.faults import (
    FAULTS,
    GARBAGE,
    REDIRECTED,
    Fault,
    FaultProxy,
    proxies,
)
from strongroom_login_oauth.testing.harness import PlatformHarness, make_attempt, make_login

MOST_REQUESTS: Final = 8
_PATIENCE: Final = 15
_LIMITS: Final = {"connect_timeout": 1.0, "read_timeout": 1.0}


class ProviderAnswersContract:
    """Requires the fixture ``harness``. Runs the login method without a server."""

    @pytest.fixture
    def proxy(self) -> Iterator[Callable[[str], FaultProxy]]:
        with proxies() as start:
            yield start

    @pytest.fixture
    def through(self, proxy: Callable[[str], FaultProxy]) -> "ThroughProxies":
        return ThroughProxies(proxy)

    @pytest.fixture
    def login(self, harness: PlatformHarness, through: "ThroughProxies") -> Iterator[Any]:
        login = make_login(harness, through)
        yield login
        login.close()

    def test_a_member_is_identified(self, harness: PlatformHarness, login: Any) -> None:
        verified = _log_in(harness, login)
        assert isinstance(verified, VerifiedCredential)
        assert verified.credential.kind in login.kinds
        # The claims of a token differ each time.
        again = _log_in(harness, login)
        assert isinstance(again, VerifiedCredential)
        assert replace(again, context=verified.context) == verified

    @pytest.mark.parametrize("name", FAULTS)
    def test_a_malformed_answer_is_no_login_and_binds_no_worker(
        self, harness: PlatformHarness, through: "ThroughProxies", name: str
    ) -> None:
        _spoil_each(harness, through, FAULTS[name])
        assert not any(REDIRECTED in path for proxy in through.proxies for path in proxy.paths)

    def test_no_message_or_log_has_a_secret(
        self,
        harness: PlatformHarness,
        through: "ThroughProxies",
        login: Any,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.DEBUG)
        codes, messages = [], []
        for spoil in (GARBAGE["a failure of the server"], GARBAGE["an error that is no text"]):
            proof = harness.new_proof(login)
            codes.append(proof["code"])
            through.spoil(Fault(spoil), after=0)
            messages.append(str(_outcome(login, proof)))
        _log_in(harness, login)
        text = caplog.text + "".join(messages)
        assert [secret for secret in (*harness.secrets, *codes) if secret in text] == []


class ThroughProxies:
    """Leads the requests of a login method through proxies."""

    def __init__(self, start: Callable[[str], FaultProxy]) -> None:
        self._start = start
        self.proxies: list[FaultProxy] = []

    def __call__(self, url: str) -> str:
        parts = urlsplit(url)
        proxy = self._start(f"{parts.scheme}://{parts.netloc}")
        if proxy not in self.proxies:
            self.proxies.append(proxy)
        return urlunsplit(parts._replace(netloc=urlsplit(proxy.url).netloc))

    def spoil(self, fault: Fault | None, *, after: int) -> None:
        for proxy in self.proxies:
            proxy.spoil(fault, after=after)

    @property
    def is_waiting(self) -> bool:
        """Whether no request has met the fault."""
        return all(proxy.is_waiting for proxy in self.proxies)


def _spoil_each(harness: PlatformHarness, through: ThroughProxies, fault: Fault) -> None:
    """Spoil each answer of a login in turn. What is not needed for the identity may be missing.

    Each login is the first one of its object, so that it also fetches documents and tokens of apps.
    """
    genuine = _first_login(harness, through)
    assert isinstance(genuine, VerifiedCredential), genuine
    for after in range(MOST_REQUESTS):
        began = time.monotonic()
        outcome = _first_login(harness, through, partial(through.spoil, fault, after=after), **_LIMITS)
        assert time.monotonic() - began < _PATIENCE
        is_over = through.is_waiting
        through.spoil(None, after=0)
        if is_over:
            assert after > 0, "the requests of a login do not pass `through`"
            return
        if isinstance(outcome, VerifiedCredential):
            assert outcome.credential == genuine.credential
    pytest.fail(f"a login sends more than {MOST_REQUESTS} requests")


def _first_login(
    harness: PlatformHarness,
    through: ThroughProxies,
    prepare: Callable[[], None] = lambda: None,
    **limits: float,
) -> Any:
    harness.begin_minute()
    with closing(make_login(harness, through, **limits)) as login:
        proof = harness.new_proof(login)
        prepare()
        return _outcome(login, proof)


def _outcome(
    login: Any, proof: dict[str, str]
) -> VerifiedCredential | LoginRejected | LoginUnavailable | None:
    try:
        verified: VerifiedCredential | None = login.authenticate(make_attempt(login.name, proof))
    except (LoginRejected, LoginUnavailable) as failure:
        return failure
    return verified


def _log_in(harness: PlatformHarness, login: Any) -> Any:
    return _outcome(login, harness.new_proof(login))
