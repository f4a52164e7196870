"""Construction and closing of plugins, and the effects of a plugin that fails then."""

import os
from pathlib import Path

import pytest

from tests.e2e.distributions import install
from tests.support.commands import run_command
from tests.support.config import ONE_WORKER
from tests.support.server import serving, write_config

PLUGIN = """
import os
from pathlib import Path
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.captcha import CaptchaChallenge, CaptchaProvider
API_VERSION = "1.0"
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
def config(tmp_path: Path, record: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
    config: Path, record: Path, tmp_path: Path
) -> None:
    log = tmp_path / "output"
    with serving(config, log) as server:
        workers = server.workers()
        assert _processes(record, "closed") == []
    assert sorted(_processes(record, "closed")) == sorted(workers)
    assert log.read_text().count("The extension riddle failed to close") == len(workers)
    assert server.process.returncode == 0


def test_a_plugin_that_fails_to_close_fails_no_command(config: Path, record: Path) -> None:
    result = run_command("--config", str(config), "prune")
    assert result.returncode == 0, result.stderr
    assert len(_processes(record, "closed")) == 1
    assert "The extension riddle failed to close" in result.stderr
