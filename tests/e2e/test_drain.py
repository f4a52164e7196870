"""Nodes are taken out of service, replaced and upgraded without a failed request."""

import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

import pytest

from strongroom.foundation.database import upgrade
from strongroom.foundation.database.upgrade import SCHEMA_REVISION
from tests.support.campaign import campaign_size
from tests.support.client import TIMEOUT, Client, Response
from tests.support.commands import run_command
from tests.support.config import Table, change_config
from tests.support.databases import PostgresqlDatabases, on_sqlite
from tests.support.server import (
    NODE,
    STOP_SECONDS,
    STRONGROOM,
    Process,
    Server,
    copy_config,
    serving,
    write_config,
)
from tests.support.waiting import wait_until

EMAIL = "alice@example.com"
DRAIN_SECONDS = 2 * STOP_SECONDS
"""Longer than the tests take: they send a second signal."""

PER_SECOND = 50
ROUNDS = campaign_size("ROLLING_ROUNDS", 0)
THREADS = 8

CODE = Path(upgrade.__file__).parents[2]
NEXT_REVISION = f"{int(SCHEMA_REVISION) + 1:04}"
MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
    op.create_table("labels", sa.Column("id", sa.String(36), primary_key=True))
    op.add_column("nodes", sa.Column("label", sa.String(36), nullable=True))
    op.add_column("users", sa.Column("rank", sa.Integer(), nullable=False, server_default="0"))
"""


pytestmark = pytest.mark.config({"server": {"drain_seconds": DRAIN_SECONDS}})


def is_ready(url: str) -> bool:
    try:
        return Client(url).request("GET", "/readyz").status == 200
    except (OSError, HTTPException):
        return False


def drain(server: Server) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([STRONGROOM, "drain", "--config", server.config])


def terminate(server: Server) -> Process:
    server.process.terminate()
    return server.process


@on_sqlite
@pytest.mark.parametrize("stop", [drain, terminate])
def test_a_drained_server_is_not_ready_and_serves_on_until_it_ends(
    server_config: Path, stop: Callable[[Server], Process]
) -> None:
    with serving(server_config) as server:
        client = Client(server.url)
        wait_until(lambda: is_ready(server.url))
        stopping = stop(server)
        wait_until(lambda: not is_ready(server.url))
        refused = client.expect(503, "GET", "/readyz").json()["error"]["details"]
        assert [(item["field"], item["code"]) for item in refused] == [("server", "draining")]
        with closing(client.connect()) as connection:
            connection.request("GET", "/livez")
            response = connection.getresponse()
            assert (response.status, response.headers["Connection"]) == (200, "close")
        # A second signal stops it at once.
        server.process.terminate()
        assert server.process.wait(STOP_SECONDS) == 0
        assert stopping.wait(STOP_SECONDS) == 0


@on_sqlite
@pytest.mark.parametrize("stop", [drain, terminate])
def test_a_drained_server_ends_after_the_configured_time(
    server_config: Path, stop: Callable[[Server], Process]
) -> None:
    change_config(server_config, {"server": {"drain_seconds": 1}})
    with serving(server_config) as server:
        began = time.monotonic()
        stopping = stop(server)
        assert server.process.wait(STOP_SECONDS) == 0
        assert time.monotonic() - began >= 1
        assert stopping.wait(STOP_SECONDS) == 0


@on_sqlite
def test_drain_says_when_no_server_runs(server_config: Path) -> None:
    result = run_command("--config", str(server_config), "drain")
    assert result.returncode == 1
    assert "no server of" in result.stderr


@on_sqlite
def test_the_service_manager_learns_when_the_server_listens_reloads_and_stops(
    server_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notify"
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as manager:
        manager.bind(str(path))
        manager.settimeout(TIMEOUT)
        monkeypatch.setenv("NOTIFY_SOCKET", str(path))
        with serving(server_config) as server:
            # The listening sockets are stored first.
            while (first := manager.recv(4096).splitlines()[0]) == b"FDSTORE=1":
                pass
            assert first == b"READY=1"
            assert is_ready(server.url)
            server.process.send_signal(signal.SIGHUP)
            reloading = manager.recv(4096).splitlines()
            assert reloading[0] == b"RELOADING=1"
            assert reloading[1].startswith(b"MONOTONIC_USEC=")
            assert manager.recv(4096) == b"READY=1"
            server.process.terminate()
            assert manager.recv(4096).splitlines()[0] == b"STOPPING=1"


@dataclass
class FollowingBalancer:
    """Sends requests to the nodes that were ready at the last check, as a load balancer does."""

    urls: list[str]
    interval: float = 0.25
    ready: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def on(self) -> Iterator[None]:
        self._check()
        thread = threading.Thread(target=self._follow)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def pick(self, number: int) -> str:
        ready = self.ready
        assert ready, "no node is ready"
        return ready[number % len(ready)]

    def _follow(self) -> None:
        while not self._stop.wait(self.interval):
            self._check()

    def _check(self) -> None:
        self.ready = [url for url in self.urls if is_ready(url)]


@dataclass
class SteadyLoad:
    """A fixed number of requests a second, a fifth of them uploads, each to a node that is ready."""

    balancer: FollowingBalancer
    token: str
    tenant: str
    statuses: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    _rounds: list[int] = field(default_factory=lambda: [0] * THREADS)
    _stop: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def on(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._work, args=[number]) for number in range(THREADS)]
        with self.balancer.on():
            for thread in threads:
                thread.start()
            try:
                yield
            finally:
                self._stop.set()
                for thread in threads:
                    thread.join()

    def await_leaving(self, url: str) -> None:
        """Return once no request goes to a node that drains."""
        wait_until(lambda: url not in self.balancer.ready)
        # Each thread may have picked the node before.
        before = list(self._rounds)
        wait_until(lambda: all(now > then for now, then in zip(self._rounds, before, strict=True)))

    def _work(self, number: int) -> None:
        due, round_ = time.monotonic(), number
        while not self._stop.is_set():
            round_ += THREADS
            self._rounds[number] += 1
            try:
                self.statuses.append(self._send(round_).status)
            except (OSError, HTTPException, AssertionError) as error:
                self.faults.append(repr(error))
            due += THREADS / PER_SECOND
            self._stop.wait(due - time.monotonic())

    def _send(self, number: int) -> Response:
        client = Client(self.balancer.pick(number), self.token)
        if number % 5 == 0:
            return client.send(self.tenant, f"{number}.bin", os.urandom(3000), 3000)
        return client.request("GET", f"{self.tenant}/owners/me/files?pageSize=5")


@pytest.fixture
def nodes(
    tmp_path: Path, postgresql_databases: PostgresqlDatabases, config_changes: Table
) -> Iterator[list[Path]]:
    """The configurations of two nodes on one database, which drain."""
    with postgresql_databases.create() as url:
        first = write_config(tmp_path, url, NODE, config_changes)
        yield [first, copy_config(first, "second.toml")]


def make_load(server: Server, urls: list[str]) -> SteadyLoad:
    server.create_user(EMAIL)
    client = Client.logged_in(server.url, EMAIL)
    assert client.token is not None
    return SteadyLoad(FollowingBalancer(urls), client.token, client.make_tenant("Load"))


def replace_node(node: Server, load: SteadyLoad, stack: ExitStack) -> Server:
    """Stop a node once the balancer has seen that it drains, and start it again."""
    node.process.terminate()
    load.await_leaving(node.url)
    node.process.terminate()
    node.process.wait(STOP_SECONDS)
    # A program, because a rolling upgrade replaces the code that new processes import.
    again = stack.enter_context(serving(node.config, program=STRONGROOM))
    wait_until(lambda: is_ready(again.url))
    return again


@dataclass
class NextVersion:
    """A copy of the code with one migration more, which commands and nodes run on request."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    def make(self) -> None:
        """Copy the code, and expand its schema."""
        package = self.folder / "strongroom"
        shutil.copytree(CODE, package, ignore=shutil.ignore_patterns("__pycache__"))
        migration = package / f"foundation/database/migrations/versions/{NEXT_REVISION}_labels.py"
        migration.write_text(MIGRATION.format(revision=NEXT_REVISION, before=SCHEMA_REVISION))
        module = package / "foundation/database/upgrade.py"
        text = module.read_text()
        assert text.count(f'"{SCHEMA_REVISION}"') == 1
        module.write_text(text.replace(f'"{SCHEMA_REVISION}"', f'"{NEXT_REVISION}"'))

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Start processes on this version until the block ends."""
        with self.monkeypatch.context() as patch:
            patch.setenv("PYTHONPATH", str(self.folder), prepend=os.pathsep)
            yield


def upgrade_schema(server: Server) -> None:
    # A program and not a copy of this process, which has imported the older version.
    command = [str(STRONGROOM), "--config", str(server.config), "db", "upgrade"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert output == f"schema: {SCHEMA_REVISION} -> {NEXT_REVISION}\n"


def notes(server: Server) -> str:
    """Return the remark of a ready node about its schema."""
    ready = Client(server.url).expect(200, "GET", "/readyz").json()
    return str(ready.get("notes", {}).get("schema", ""))


@pytest.mark.extended
def test_a_rolling_upgrade_under_load_fails_no_request(
    nodes: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = NextVersion(tmp_path / "next", monkeypatch)
    version.make()
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(config)) for config in nodes]
        load = make_load(servers[0], [server.url for server in servers])

        def restart(number: int) -> None:
            # A balancer that has not yet seen the other node again would have none.
            wait_until(lambda: len(load.balancer.ready) == len(servers))
            servers[number] = replace_node(servers[number], load, stack)

        with load.on():
            for _ in range(ROUNDS):
                restart(1)
                restart(0)
            with version.in_use():
                upgrade_schema(servers[0])
            wait_until(lambda: all("compatible" in notes(server) for server in servers))
            # A node of the version before may start on the newer schema, and be replaced later.
            restart(1)
            assert "compatible" in notes(servers[1])
            with version.in_use():
                restart(0)
                assert notes(servers[0]) == ""
                restart(1)
            wait_until(lambda: len(load.balancer.ready) == len(servers))
        print(f"{len(load.statuses)} requests, {len(load.faults)} faults")  # noqa: T201  figures
        assert load.faults == []
        assert set(load.statuses) <= {200, 201}
        for server in servers:
            # They get the second signal at the end of their block.
            server.process.terminate()
            wait_until(lambda url=server.url: not is_ready(url))  # type: ignore[misc]
