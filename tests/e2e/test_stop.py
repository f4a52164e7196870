"""Stopping: immediately without open requests, otherwise after their responses."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from strongroom.assembly.server_process import STOP_SECONDS
from tests.e2e.offline import number_of_incomplete
from tests.support.client import Client
from tests.support.config import change_config
from tests.support.databases import on_sqlite
from tests.support.distributions import install
from tests.support.server import STRONGROOM, Server, has_ended, serving
from tests.support.waiting import wait_until

SLOW_PLUGIN = """
import os, pathlib, threading
from strongroom.plugin_api import hookimpl
API_VERSION = "2.0"
@hookimpl
def register_blueprints():
    call = len(list(pathlib.Path({folder!r}).glob("call-*"))) + 1
    pathlib.Path({folder!r}, f"call-{{call}}").write_text(f"{{os.getpid()}}\\n")
    if call == {hangs_at}:
        threading.Event().wait()
    return []
"""
CHECK, FIRST_WORKER = 1, 2
"""The calls of the hook: by the check before serving, then by the server processes."""
AT_ONCE = STOP_SECONDS - 5


@pytest.fixture
def slow(server_config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Path]:
    """Enable a plugin whose hook hangs at the given call; return the file that this call writes."""

    def enable(hangs_at: int) -> Path:
        install(tmp_path, "slow", SLOW_PLUGIN.format(folder=str(tmp_path), hangs_at=hangs_at))
        monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        change_config(server_config, {"plugins": {"enabled": ["storage_local", "slow"]}})
        return tmp_path / f"call-{hangs_at}"

    return enable


@on_sqlite
def test_a_server_that_is_still_starting_stops_at_once(
    server_config: Path, slow: Callable[[int], Path]
) -> None:
    marker = slow(FIRST_WORKER)
    process = subprocess.Popen(
        [STRONGROOM, "serve", "--config", server_config], stderr=subprocess.DEVNULL
    )
    try:
        wait_until(marker.exists)
        process.terminate()
        assert process.wait(AT_ONCE) == 0
    finally:
        if process.poll() is None:
            Server("", server_config, process).kill()


@on_sqlite
def test_a_signal_that_reaches_another_thread_stops_the_process(server_config: Path) -> None:
    with serving(server_config) as server:
        signal_another_thread(server.process.pid)
        assert server.process.wait(AT_ONCE) == 0
    with serving(server_config) as server:
        worker = server.workers()[0]
        signal_another_thread(worker)
        wait_until(lambda: has_ended(worker), AT_ONCE)
        # A successor that has not started yet is killed after STOP_SECONDS only.
        wait_until(lambda: all(len(threads(pid)) > 1 for pid in {*server.workers()} - {worker}))


def signal_another_thread(pid: int) -> None:
    """Send SIGTERM to a thread that is not the main one, as the kernel may after a pause."""
    # A worker may not have served yet, because another one has.
    wait_until(lambda: len(threads(pid)) > 1)
    other = next(thread for thread in threads(pid) if thread != pid)
    assert ctypes.CDLL(None).tgkill(pid, other, signal.SIGTERM) == 0


def threads(pid: int) -> list[int]:
    return [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]


@on_sqlite
def test_a_server_stopped_during_its_check_leaves_no_process(
    server_config: Path, slow: Callable[[int], Path]
) -> None:
    marker = slow(CHECK)
    process = subprocess.Popen(
        [STRONGROOM, "serve", "--config", server_config], stderr=subprocess.DEVNULL
    )
    wait_until(lambda: marker.exists() and marker.read_text().endswith("\n"))
    process.kill()
    process.wait(STOP_SECONDS)
    checker = int(marker.read_text())
    wait_until(lambda: has_ended(checker))


@on_sqlite
def test_an_upload_under_way_is_finished_before_the_server_stops(server_config: Path) -> None:
    content = os.urandom(400_000)
    with serving(server_config) as server:
        server.create_user("alice@example.com")
        client = Client.logged_in(server.url, "alice@example.com")
        tenant = client.make_tenant("Acme")

        def body() -> Iterator[bytes]:
            yield content[:200_000]
            # A connection that no process has accepted yet would be refused.
            wait_until(lambda: number_of_incomplete(server_config) == 1)
            os.kill(server.process.pid, signal.SIGTERM)
            wait_until(lambda: len(server.workers()) == 1)
            yield content[200_000:]

        response = client.send(tenant, "late.bin", body(), len(content))
        assert response.status == 201
        assert server.process.wait(2 * STOP_SECONDS) == 0
    with serving(server_config) as server:
        client = Client.logged_in(server.url, "alice@example.com")
        assert client.download(tenant, response.json()["id"]) == content
