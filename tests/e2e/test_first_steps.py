"""The script of examples/first-steps, against a real server with two workers."""

import http.client
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.processes import MemoryWatch, worker_behind
from tests.support.server import STRONGROOM, Server, serving, write_config

SCRIPT = Path(__file__).parents[2] / "examples" / "first-steps" / "first-steps.sh"
UPLOAD_MIB = int(os.environ.get("STRONGROOM_TEST_UPLOAD_MIB", "32"))
MEBIBYTE = 1024 * 1024
ALLOWED_RISE = 32 * MEBIBYTE
MOST_CONNECTIONS = 200


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[Server]:
    with serving(write_config(tmp_path, database_url)) as server:
        yield server


def take_first_steps(server: Server, size_mib: int, **env: str) -> "subprocess.CompletedProcess[str]":
    knobs = {
        "BASE": server.url,
        "SIZE_MIB": str(size_mib),
        "STRONGROOM": str(STRONGROOM),
        "STRONGROOM_CONFIG": str(server.config),
    }
    return subprocess.run(
        [SCRIPT], env={**os.environ, **knobs, **env}, capture_output=True, text=True, check=False
    )


def log_in(server: Server, email: str) -> str:
    body = json.dumps({"username": email, "password": "Correct1Horse"})
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    connection.request("POST", "/authorizations", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    assert response.status == 200, response.read()
    token: str = json.load(response)["accessToken"]
    connection.close()
    return token


def answers_of_every_worker(server: Server, token: str) -> dict[int, set[int]]:
    """Return the statuses that each worker gave to the token, asked until all of them were met."""
    statuses: dict[int, set[int]] = {pid: set() for pid in server.workers()}
    for _ in range(MOST_CONNECTIONS):
        connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
        connection.request("GET", "/api/v1/tenants", headers={"Authorization": f"Bearer {token}"})
        response = connection.getresponse()
        statuses[worker_behind(server, connection)].add(response.status)
        response.read()
        connection.close()
        if all(statuses.values()):
            break
    return statuses


def test_the_first_steps_succeed_within_flat_memory(server: Server) -> None:
    warming_up = take_first_steps(server, 1)
    assert warming_up.returncode == 0, warming_up.stderr
    memory = MemoryWatch(server)
    before = memory.now()
    with memory.sampling():
        result = take_first_steps(server, UPLOAD_MIB)
    assert result.returncode == 0, result.stderr
    assert f"{UPLOAD_MIB * MEBIBYTE} bytes" in result.stdout
    assert "the token was refused 20 times" in result.stdout
    assert result.stdout.endswith("All is well.\n")
    assert memory.peak - before < ALLOWED_RISE


def test_the_first_surprise_ends_the_script(server: Server, tmp_path: Path) -> None:
    result = take_first_steps(server, 1, STRONGROOM_CONFIG=str(tmp_path / "missing.toml"))
    assert result.returncode != 0
    assert "Log in" not in result.stdout


def test_a_token_is_refused_by_every_worker_once_logged_out(server: Server) -> None:
    server.create_user("alice@example.com")
    token = log_in(server, "alice@example.com")
    assert all(statuses == {200} for statuses in answers_of_every_worker(server, token).values())
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    connection.request("DELETE", "/authorizations/current", headers={"Authorization": f"Bearer {token}"})
    assert connection.getresponse().status == 200
    connection.close()
    refused = answers_of_every_worker(server, token)
    assert len(refused) == 2
    assert all(statuses == {401} for statuses in refused.values())
