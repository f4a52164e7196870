"""Construction and closing of plugins, and the effects of a plugin that fails then."""

import json
import os
import time
from contextlib import closing, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import CommandProcess, run_command
from tests.support.config import ONE_WORKER, Table, read_toml
from tests.support.distributions import install
from tests.support.server import STOP_SECONDS, serving, write_config
from tests.support.waiting import PATIENCE_SECONDS, wait_until

PLUGIN = """
import os
from pathlib import Path
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider
API_VERSION = "2.0"
RECORD = Path({record!r})

def note(what):
    with RECORD.open("a") as file:
        file.write(f"{{what}} {{os.getpid()}}\\n")

class Riddle(CaptchaProvider):
    name = "riddle"
    kind = "riddle"
    def __init__(self, options):
        super().__init__(options)
        note("made")
    def issue(self):
        return CaptchaChallenge({{}}, "")
    def verify(self, state, answer):
        return False
    def close(self):
        note("closed")
        raise RuntimeError("cannot close")

@hookimpl
def register_captcha_providers():
    return [Riddle]
"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "record"


@pytest.fixture
def server_config(tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    install(site, "riddles", PLUGIN.format(record=str(record)))
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    plugin = {
        "plugins": {"enabled": ["storage_local", "riddles"]},
        "captcha": {"provider": "riddle"},
    }
    # One server process: when it answers, none is still starting.
    return write_config(tmp_path, f"sqlite:///{tmp_path}/db.sqlite3", plugin, ONE_WORKER)


def _processes(record: Path, what: str) -> list[int]:
    lines = (line.split() for line in record.read_text().splitlines())
    return [int(process) for word, process in lines if word == what]


def test_plugins_are_closed_once_in_each_server_process_and_only_when_it_stops(
    server_config: Path, record: Path, tmp_path: Path
) -> None:
    log = tmp_path / "output"
    with serving(server_config, log) as server:
        workers = server.workers()
        assert _processes(record, "closed") == []
    assert sorted(_processes(record, "closed")) == sorted(workers)
    assert log.read_text().count("The extension riddle failed to close") == len(workers)
    assert server.process.returncode == 0


def test_a_plugin_that_fails_to_close_fails_no_command(server_config: Path, record: Path) -> None:
    result = run_command("--config", str(server_config), "prune")
    assert result.returncode == 0, result.stderr
    assert len(_processes(record, "closed")) == 1
    assert "The extension riddle failed to close" in result.stderr


SERVICE = """
import os, threading
from pathlib import Path
from strongroom.plugin_api import hookimpl
API_VERSION = "2.0"
RECORD = Path({record!r})

def note(what):
    with RECORD.open("a") as file:
        file.write(f"{{what}} {{os.getpid()}}\\n")

@hookimpl
def start(host):
    note("started")
    {start}

@hookimpl
def stop():
    note("stopped")
    {stop}
"""
TWO_WORKERS: Table = {"server": {"workers": 2}}


def write_service(tmp_path: Path, start: str, monkeypatch: pytest.MonkeyPatch, *changes: Table) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    quiet = SERVICE.format(record=str(tmp_path / "quiet"), start="pass", stop="pass")
    stop = "raise RuntimeError('cannot stop')"
    clocks = SERVICE.format(record=str(tmp_path / "record"), start=start, stop=stop)
    install(site, "quiet", quiet)
    install(site, "clocks", clocks)
    monkeypatch.setenv("PYTHONPATH", str(site), prepend=os.pathsep)
    plugins = {"plugins": {"enabled": ["storage_local", "quiet", "clocks"]}}
    return write_config(tmp_path, f"sqlite:///{tmp_path}/db.sqlite3", plugins, *changes)


def test_plugins_start_and_stop_once_in_each_worker(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "output"
    with serving(write_service(tmp_path, "pass", monkeypatch, ONE_WORKER), log) as server:
        workers = server.workers()
        assert _processes(record, "started") == workers
        server.command("prune")
    assert record.read_text().splitlines() == [f"{what} {workers[0]}" for what in ("started", "stopped")]
    assert 'plugin "clocks" failed in stop: RuntimeError: cannot stop' in log.read_text()
    assert server.process.returncode == 0


def test_a_plugin_that_cannot_start_ends_the_server_with_one_line(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_service(tmp_path, "raise OSError('no clock')", monkeypatch, TWO_WORKERS)
    result = run_command("serve", "--config", str(config))
    assert result.returncode == 2
    lines = [line for line in result.stderr.splitlines() if "clock" in line]
    place = tmp_path / "site" / "acme_clocks.py"
    assert [line.partition(f" ({place}:")[0] for line in lines] == [
        'strongroom: plugin "clocks" failed in start: OSError: no clock'
    ]
    assert "Traceback" not in result.stderr
    assert _processes(record, "stopped") == []
    # A plugin that had started before it was stopped again, unless the server ended the other worker.
    started, stopped = (set(_processes(tmp_path / "quiet", what)) for what in ("started", "stopped"))
    assert stopped
    assert stopped <= started


# The first worker starts, the second one waits for the pipe.
PARTED = """
try:
        open({first!r}, "x").close()
    except FileExistsError:
        open({pipe!r}).read()
"""


def _answer(config: Path, path: str) -> tuple[int, Any]:
    """Return the status and the JSON of the first worker that answers; each has a socket of its own."""
    port, deadline = read_toml(config)["server"]["port"], time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        with suppress(OSError), closing(HTTPConnection("127.0.0.1", port, timeout=0.5)) as connection:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, json.load(response)
    raise AssertionError(f"no worker answers {path}")


def test_a_server_is_ready_and_says_so_once_the_plugins_of_all_workers_have_started(
    record: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe, log = tmp_path / "pipe", tmp_path / "output"
    os.mkfifo(pipe)
    start = PARTED.format(first=str(tmp_path / "first"), pipe=str(pipe)).strip()
    config = write_service(tmp_path, start, monkeypatch, TWO_WORKERS)
    streams = {"stdin": Path(os.devnull), "stdout": log, "stderr": log}
    process = CommandProcess(["serve", "--config", str(config)], streams)
    try:
        assert _answer(config, "/livez") == (200, {"status": "alive"})
        status, answer = _answer(config, "/readyz")
        detail = {"field": "server", "code": "starting", "message": "The server is starting."}
        assert (status, answer["error"]["details"]) == (503, [detail])
        assert "serving" not in log.read_text()
        pipe.write_text("")
        wait_until(lambda: "strongroom: serving http" in log.read_text())
        assert _answer(config, "/readyz")[0] == 200
        assert len(_processes(record, "started")) == 2
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)
