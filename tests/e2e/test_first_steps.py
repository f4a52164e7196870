"""The script of examples/first-steps, against a real server with two workers."""

import os
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.processes import MemoryWatch, worker_behind
from tests.support.client import Client
from tests.support.server import STRONGROOM, Server
from tests.support.waiting import wait_until

pytestmark = pytest.mark.extended

SCRIPT = Path(__file__).parents[2] / "examples" / "first-steps" / "first-steps.sh"
UPLOAD_MIB = int(os.environ.get("STRONGROOM_TEST_UPLOAD_MIB", "32"))
MEBIBYTE = 1024 * 1024
ALLOWED_RISE = 32 * MEBIBYTE
WORKERS = 2


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


def answers_of_every_worker(server: Server, client: Client) -> dict[int, set[int]]:
    """Return the statuses of each worker, sending requests until all workers have answered."""
    wait_until(lambda: len(server.workers()) == WORKERS)
    statuses: dict[int, set[int]] = {pid: set() for pid in server.workers()}

    def have_answered() -> bool:
        with closing(client.connect()) as connection:
            connection.request("GET", "/api/v1/tenants", headers=client.headers())
            response = connection.getresponse()
            statuses[worker_behind(server, connection)].add(response.status)
            response.read()
        return all(statuses.values())

    wait_until(have_answered, seen=lambda: statuses)
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


def test_a_token_is_refused_by_every_worker_once_logged_out(server: Server, client: Client) -> None:
    assert list(answers_of_every_worker(server, client).values()) == [{200}, {200}]
    client.expect(200, "DELETE", "/authorizations/current")
    assert list(answers_of_every_worker(server, client).values()) == [{401}, {401}]
