"""A PostgreSQL that hangs: refused in time, nothing else affected, and back when it is back."""

import os
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest

from strongroom.testing.server import free_port
from tests.e2e.cluster import EMAIL, Load, Postgresql
from tests.support.client import TIMEOUT, Client
from tests.support.config import lifted
from tests.support.server import Server, serving, write_config
from tests.support.waiting import SLACK_SECONDS, wait_until

HANG_SECONDS = float(os.environ.get("STRONGROOM_TEST_HANG_SECONDS", "6"))
TIMEOUT_SECONDS = 10 if HANG_SECONDS > 30 else 2
GRACE_SECONDS = 2.5 + SLACK_SECONDS
RECOVERY_SECONDS = 5.0 + SLACK_SECONDS
KNOWN_SECONDS = 2.5
KINDS = ("upload", "list", "login")


@dataclass
class Site:
    """A server on a PostgreSQL of its own."""

    server: Server
    postgresql: Postgresql
    management: str
    load: Load

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(f"{self.management}/metrics", timeout=TIMEOUT) as response:
            lines = response.read().decode().splitlines()
        return sum(float(line.split()[-1]) for line in lines if line.split()[0] == name)

    def livez_seconds(self) -> float:
        began = time.monotonic()
        Client(self.server.url).expect(200, "GET", "/livez")
        return time.monotonic() - began


@contextmanager
def running(tmp_path: Path) -> Iterator[Site]:
    # PostgreSQL is another user's when run as root, and cannot look into pytest's own folder.
    with tempfile.TemporaryDirectory(prefix="strongroom-hang-") as folder:
        postgresql = Postgresql(Path(folder))
        try:
            port = free_port()
            changes = {
                "database": {"timeout_seconds": TIMEOUT_SECONDS},
                "management": {"port": port},
                **lifted("login_per_address"),
            }
            config = write_config(tmp_path, postgresql.create(), changes)
            with serving(config) as server:
                server.create_user(EMAIL)
                client = Client.logged_in(server.url, EMAIL)
                assert client.token is not None
                load = Load(server.url, client.token, client.make_tenant("Load"))
                yield Site(server, postgresql, f"http://127.0.0.1:{port}", load)
        finally:
            postgresql.close()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running(tmp_path) as site:
        yield site


def test_a_database_that_hangs_is_refused_in_time_and_used_again_when_it_answers(site: Site) -> None:
    load = site.load
    with load.on():
        load.await_outcomes()
        with site.postgresql.hanging():
            hung = time.monotonic()
            wait_until(lambda: time.monotonic() > hung + TIMEOUT_SECONDS + KNOWN_SECONDS)
            known = time.monotonic()
            lives = [site.livez_seconds()]
            while time.monotonic() < hung + HANG_SECONDS:
                lives.append(site.livez_seconds())
                time.sleep(0.1)
            load.await_outcomes()
        resumed = time.monotonic()
        recovered = max(load.await_success(kind, resumed) for kind in KINDS)
    during = [item for item in load.outcomes if hung < item.began and item.ended < resumed]
    assert {item.status for item in during} == {503}
    assert all(item.retry_after for item in during)
    slowest = max(item.ended - item.began for item in load.outcomes)
    assert slowest < TIMEOUT_SECONDS + GRACE_SECONDS
    # Once it is known to hang, nothing waits for it. A busy machine may delay some requests by as much.
    assert median(item.ended - item.began for item in during if item.began > known) < TIMEOUT_SECONDS
    assert median(lives) < TIMEOUT_SECONDS
    assert recovered < RECOVERY_SECONDS
    print(  # noqa: T201  the figures of a campaign
        f"{len(during)} requests, slowest {slowest:.1f} s, back after {recovered:.1f} s"
    )
    assert_the_log_says_what_happened(site)
    wait_until(lambda: site.metric("strongroom_database_connections_in_use") == 0)
    site.postgresql.stop()
    for _ in range(5):
        assert Client(site.server.url, load.token).request("GET", "/users/me").status == 503
    wait_until(lambda: site.metric("strongroom_database_connections_in_use") == 0)


def assert_the_log_says_what_happened(site: Site) -> None:
    log = site.server.config.with_suffix(".log").read_text()
    assert "The database hangs" in log
    assert "The database responds again" in log
    assert "Traceback" not in log
