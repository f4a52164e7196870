"""The contract about malformed answers on a live server: no failure, bounded memory, time limits."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

import pytest

from strongroom.testing.server import LiveServer
from strongroom_login_oauth.testing.answers import MOST_REQUESTS, ThroughProxies
from strongroom_login_oauth.testing.faults import FAULTS, proxies
from strongroom_login_oauth.testing.harness import PlatformHarness, platform_server

READ_TIMEOUT: Final = 0.5
"""Seconds for a whole answer, as configured."""

MAX_GROWTH: Final = 16 * 1024 * 1024
"""Bytes by which the memory of a worker may grow because of one answer."""

_WARM_UPS: Final = 3
_MOST_WARM_UPS: Final = 30
"""Logins that are tried for it: on a busy machine, even a good answer may come too late."""
# Of the server and the machine, in addition to the time limits of the login.
_OVERHEAD_SECONDS: Final = 4


@dataclass(frozen=True, slots=True)
class SpoiledServer:
    """A server that reaches its platform through proxies only."""

    server: LiveServer
    through: ThroughProxies


@contextmanager
def spoiled_server(
    folder: Path, harness: PlatformHarness, *, database_url: str | None = None
) -> Iterator[SpoiledServer]:
    """Run a server with the plugin.

    Args:
        folder: an empty folder.
        database_url: the URL of an empty database; by default, SQLite.
    """
    name = harness.method.name
    with proxies() as start:
        through = ThroughProxies(start)
        options = {**harness.options(through), "read_timeout": READ_TIMEOUT}
        config = {"login": {"methods": ["password", name], name: options}}
        plugins = [*filter(None, [harness.plugin])]
        with platform_server(
            folder, harness, plugins=plugins, config=config, database_url=database_url
        ) as server:
            _warm_up(server, harness)
            yield SpoiledServer(server, through)


def _warm_up(server: LiveServer, harness: PlatformHarness) -> None:
    """Log in until the process has what it keeps, so that only the answers of a test add memory."""
    logins = 0
    for _ in range(_MOST_WARM_UPS):
        reply = harness.begin_login(server)()
        assert reply.status in (HTTPStatus.OK, HTTPStatus.SERVICE_UNAVAILABLE), reply.text
        logins += reply.status == HTTPStatus.OK
        if logins == _WARM_UPS:
            return
    pytest.fail(f"{logins} of {_MOST_WARM_UPS} logins succeeded")


class LiveAnswersContract:
    """Requires the fixture ``harness`` with the scope ``module``."""

    @pytest.fixture(scope="class")
    @classmethod
    def answers_database_url(cls) -> str | None:
        """The URL of an empty database; ``None``: SQLite."""
        return None

    @pytest.fixture(scope="class")
    @classmethod
    def spoiled(
        cls,
        tmp_path_factory: pytest.TempPathFactory,
        harness: PlatformHarness,
        answers_database_url: str | None,
    ) -> Iterator[SpoiledServer]:
        """A server of these tests."""
        folder = tmp_path_factory.mktemp("spoiled")
        with spoiled_server(folder, harness, database_url=answers_database_url) as spoiled:
            yield spoiled

    @pytest.mark.parametrize("name", FAULTS)
    def test_a_malformed_answer_is_no_failure_of_the_server(
        self, harness: PlatformHarness, spoiled: SpoiledServer, name: str
    ) -> None:
        for after in range(MOST_REQUESTS):
            finish = harness.begin_login(spoiled.server)
            spoiled.through.spoil(FAULTS[name], after=after)
            _forget_peak(spoiled.server.process_id)
            before, began = _memory(spoiled.server.process_id, "VmRSS"), time.monotonic()
            reply = finish()
            took = time.monotonic() - began
            growth = _memory(spoiled.server.process_id, "VmHWM") - before
            is_over = spoiled.through.is_waiting
            spoiled.through.spoil(None, after=0)
            assert reply.status < 500 or reply.status == HTTPStatus.SERVICE_UNAVAILABLE, reply.text
            assert took < READ_TIMEOUT * (after + 2) + _OVERHEAD_SECONDS
            assert growth <= MAX_GROWTH, f"{growth >> 20} MiB"
            if is_over:
                assert after > 0, "the requests of a login do not pass `through`"
                return
        pytest.fail(f"a login sends more than {MOST_REQUESTS} requests")


def _processes(root: int) -> list[int]:
    children = Path(f"/proc/{root}/task/{root}/children").read_text().split()
    return [root, *(pid for child in children for pid in _processes(int(child)))]


def _forget_peak(root: int) -> None:
    """Reset the peak of memory to what is in use; see proc(5)."""
    for pid in _processes(root):
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def _memory(root: int, name: str) -> int:
    """Return bytes of memory of a server and its workers."""
    matches = (
        re.search(rf"^{name}:\s+(\d+) kB$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
        for pid in _processes(root)
    )
    return sum(int(match[1]) * 1024 for match in matches if match)
