"""``strongroom storage fsck`` and ``gc``, as an operator runs them."""

import io
import json
import signal
from pathlib import Path

import pytest
from sqlalchemy import insert
from tests.support.commands import CommandProcess, run_command
from tests.support.waiting import wait_until

from strongroom.assembly.container import build
from strongroom.cli.database_checks import open_database
from strongroom.clock import SystemClock
from strongroom.content.storage.models import blobs, new_key
from strongroom.content.storage.service import BlobService
from strongroom.foundation.config import load
from strongroom.foundation.database.key_ranges import KeyRanges
from strongroom.testing.clock import ManualClock

LONG_AGO = 1_000_000_000_000


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return tmp_path / "files"


def keep_a_blob(config: Path) -> str:
    """Store a blob that nothing refers to, long ago."""
    container = build(load(config, {}), ManualClock(LONG_AGO))
    received = container.get(BlobService).receive(io.BytesIO(b"hello"), size=None, max_bytes=10)
    with container.database.write() as connection:
        container.get(BlobService).commit(connection, received.blob)
    container.close()
    return received.blob.key


def test_where_all_is_right_it_says_so_and_exits_with_0(config: Path) -> None:
    result = run_command("--config", str(config), "storage", "fsck", "--checksums")
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 faults, 0 repaired\n", "")


def test_faults_are_reported_and_exit_with_1_until_they_are_repaired(config: Path, files: Path) -> None:
    leaked = keep_a_blob(config)
    said = run_command("--config", str(config), "storage", "fsck")
    assert said.returncode == 1
    assert said.stdout.startswith(f"unreferenced main:{leaked}: stored, but")
    repaired = run_command("--config", str(config), "storage", "fsck", "--repair")
    assert repaired.returncode == 0
    assert repaired.stdout.endswith("; repaired\n0 faults, 1 repaired\n")
    assert not (files / leaked).exists()


def test_missing_bytes_are_reported_as_json_and_stay_a_fault(config: Path, files: Path) -> None:
    (files / keep_a_blob(config)).unlink()
    result = run_command("--config", str(config), "storage", "fsck", "--json")
    assert result.returncode == 1
    body = json.loads(result.stdout)
    assert body["faults"] == 2
    assert [finding["kind"] for finding in body["findings"]] == ["missing", "unreferenced"]
    assert body["findings"][0]["storage"] == "main"


def plant(config: Path, files: Path, count: int) -> list[str]:
    """Store rows and their objects, of which the first and the last one are missing; return those."""
    configuration = load(config, {})
    container = build(configuration)
    now = container.base.clock.now()
    keys = sorted(new_key() for _ in range(count))
    rows = [
        {
            "key": key,
            "storage": "main",
            "object_key": key,
            "state": "stored",
            "size": 1,
            "created_at": now,
        }
        for key in keys
    ]
    with container.database.write() as connection:
        connection.execute(insert(blobs), rows)
    container.close()
    for key in keys[1:-1]:
        (files / key).parent.mkdir(parents=True, exist_ok=True)
        (files / key).write_bytes(b"x")
    return [keys[0], keys[-1]]


def test_a_check_continues_after_a_kill_with_all_findings(
    config: Path, files: Path, tmp_path: Path
) -> None:
    missing = plant(config, files, 1200)
    command = ("--config", str(config), "storage", "fsck", "--json")
    streams = {name: tmp_path / name for name in ("stdin", "stdout", "stderr")}
    process = CommandProcess([*command, "--pause-ms", "60000"], streams)
    database = open_database(load(config, {}))
    ranges = KeyRanges(database, SystemClock(), "storage.fsck")

    def has_stored() -> bool:
        progress = ranges.progress()
        return progress is not None and progress.rows > 0

    wait_until(has_stored)
    process.send_signal(signal.SIGKILL)
    assert process.wait() != 0
    (run,) = json.loads(run_command("--config", str(config), "db", "runs", "--json").stdout)
    assert (run["task"], run["progress"]["rows"]) == ("storage.fsck", 500)
    result = run_command(*command)
    assert "after 500 rows" in result.stderr
    assert [finding["key"] for finding in json.loads(result.stdout)["findings"]] == missing
    assert ranges.progress() is None
    assert run_command("--config", str(config), "db", "runs").stdout == ""
    database.close()


def test_a_young_stray_stays(config: Path, files: Path) -> None:
    keep_a_blob(config)
    stray = files / new_key()
    stray.parent.mkdir(parents=True, exist_ok=True)
    stray.write_bytes(b"x")
    result = run_command("--config", str(config), "storage", "fsck", "--repair", "--json")
    assert (result.returncode, json.loads(result.stdout)["faults"]) == (1, 1)
    assert stray.exists()


def test_gc_says_how_many_it_removed(config: Path) -> None:
    keep_a_blob(config)
    result = run_command("--config", str(config), "storage", "gc")
    assert (result.returncode, result.stdout, result.stderr) == (0, "0 blobs removed\n", "")
