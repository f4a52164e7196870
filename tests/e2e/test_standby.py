"""A server whose database URL leads to a PostgreSQL standby."""

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

import pytest

from tests.e2e.cluster import EMAIL
from tests.support.client import PASSWORD, Client
from tests.support.commands import run_command
from tests.support.config import lifted
from tests.support.replicas import Pair
from tests.support.server import Server, serving, write_config
from tests.support.waiting import SLACK_SECONDS, wait_until

REFUSED = "is in recovery: it is a standby, which refuses writes"
ATTEMPTS = 8
"""Requests, each on a connection of its own, so that each worker gets some."""
STANDBY = "It is in recovery: a standby, which refuses writes."


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with Pair.serving() as pair:
        yield pair


@pytest.fixture(scope="module")
def primary_url(pair: Pair) -> str:
    return pair.create("site")


def config_of(folder: Path, url: str) -> Path:
    return write_config(folder, url, lifted("login_per_address"))


def test_a_start_on_a_standby_is_refused_in_one_line(
    pair: Pair, primary_url: str, tmp_path: Path
) -> None:
    config = config_of(tmp_path, pair.standby_url(primary_url))
    for command in (["config", "check"], ["serve"]):
        result = run_command("--config", str(config), *command)
        (line,) = result.stderr.splitlines()
        assert result.returncode == 3
        assert "database.url: PostgreSQL at " in line
        assert REFUSED in line


def test_the_doctor_names_a_standby(pair: Pair, primary_url: str, tmp_path: Path) -> None:
    config = config_of(tmp_path, pair.standby_url(primary_url))
    result = run_command("--config", str(config), "doctor", "--json")
    assert result.returncode == 1, result.stderr
    (finding,) = [item for item in json.loads(result.stdout) if item["part"] == "database.url"]
    assert finding["message"] == "postgresql is a standby, which refuses writes"


@pytest.mark.parametrize("wanted", ["", "&target_session_attrs=read-write"])
def test_the_primary_of_several_hosts_is_found(
    pair: Pair, primary_url: str, tmp_path: Path, wanted: str
) -> None:
    config = config_of(tmp_path, pair.both_url(primary_url) + wanted)
    result = run_command("--config", str(config), "config", "check")
    assert (result.returncode, result.stderr) == (0, "")


def test_requests_are_refused_at_once_until_a_standby_is_promoted(
    pair: Pair, primary_url: str, tmp_path: Path
) -> None:
    config = config_of(tmp_path, pair.both_url(primary_url))
    with serving(config, tmp_path / "output") as server:
        client = Client(server.url)
        assert log_in(server.url).status == 401
        pair.stop_primary()
        wait_until(lambda: log_in(server.url).status == 503)
        began = time.monotonic()
        refused = log_in(server.url)
        assert refused.headers["Retry-After"] == "1"
        client.expect(200, "GET", "/livez")
        assert time.monotonic() - began < 2 + SLACK_SECONDS
        assert STANDBY in client.expect(200, "GET", "/readyz").content.decode()
        replace_workers(server)
        wait_until(lambda: [log_in(server.url).status for _ in range(ATTEMPTS)] == [503] * ATTEMPTS)
        client.expect(200, "GET", "/livez")
        pair.promote()
        wait_until(lambda: log_in(server.url).status == 401)


def replace_workers(server: Server) -> None:
    """Kill all workers, and wait until others serve."""
    before = set(server.workers())
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: len(set(server.workers()) - before) == len(before))
    wait_until(lambda: all(accepts(server) for _ in range(ATTEMPTS)))


def accepts(server: Server) -> bool:
    """Return whether a worker answers; connections of one that has just ended are reset."""
    try:
        return Client(server.url).request("GET", "/livez").status == 200
    except OSError:
        return False


@dataclass(frozen=True)
class Answer:
    """The status and headers of a response."""

    status: int
    headers: Message


def log_in(url: str) -> Answer:
    """Try to log in as a user who does not exist."""
    body = json.dumps({"username": EMAIL, "password": PASSWORD}).encode()
    with closing(Client(url).connect()) as connection:
        connection.request("POST", "/authorizations", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return Answer(response.status, response.headers)
