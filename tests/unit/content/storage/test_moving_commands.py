"""``strongroom storage list`` and ``migrate``, as an operator runs them."""

import json
from pathlib import Path

import pytest
from tests.support.commands import run_command
from tests.support.config import Table, change_config
from tests.support.stores import stored_files

from strongroom.assembly.container import build
from strongroom.content.storage.service import BlobService
from strongroom.foundation.config import load
from strongroom.testing.storage import PatternSource

MISUSE = 2


@pytest.fixture
def config_changes(tmp_path: Path) -> Table:
    return {"storages": {"second": {"backend": "local", "root": f"{tmp_path}/second"}}}


def store_files(config: Path, count: int) -> None:
    """Store bytes that something could refer to."""
    container = build(load(config, {}))
    blobs = container.get(BlobService)
    for _ in range(count):
        received = blobs.receive(PatternSource(1000), size=None, max_bytes=1000)
        with container.database.write() as connection:
            blobs.commit(connection, received.blob)
    container.close()


def lose_the_second_storage(config: Path) -> None:
    change_config(config, {"storages": {"second": None}})


def test_files_move_and_the_list_counts_them(config: Path) -> None:
    store_files(config, 3)
    moved = run_command("--config", str(config), "storage", "migrate", "main", "second")
    assert (moved.returncode, moved.stdout) == (0, "3 files moved\n"), moved.stderr
    assert "new files still go to main" in moved.stderr
    listed = run_command("--config", str(config), "storage", "list", "--json")
    assert json.loads(listed.stdout) == [
        {"storage": "main", "is_configured": True, "files": 0, "size": 0, "leftovers": 3},
        {"storage": "second", "is_configured": True, "files": 3, "size": 3000, "leftovers": 0},
    ]
    listed = run_command("--config", str(config), "storage", "list")
    assert listed.stdout == (
        "main: 0 files, 0 bytes, 3 to be removed  new files go here\n"
        "second: 3 files, 3000 bytes, 0 to be removed\n"
    )


def test_a_storage_with_files_that_is_not_configured_is_reported_and_refused(config: Path) -> None:
    store_files(config, 2)
    run_command("--config", str(config), "storage", "migrate", "main", "second", "--grace", "0")
    lose_the_second_storage(config)
    listed = run_command("--config", str(config), "storage", "list")
    assert listed.returncode == 1
    assert "second: 2 files, 2000 bytes, 0 to be removed  NOT CONFIGURED" in listed.stdout
    served = run_command("serve", "--config", str(config))
    assert served.returncode == MISUSE
    assert "storages.second" in served.stderr
    assert "files are in it" in served.stderr
    assert len(served.stderr.strip().splitlines()) == 1


def test_damage_is_named_and_ends_with_1(config: Path, tmp_path: Path) -> None:
    store_files(config, 2)
    damaged = stored_files(tmp_path / "files")[0]
    damaged.write_bytes(b"x" * 1000)
    result = run_command("--config", str(config), "storage", "migrate", "main", "second")
    assert result.returncode == 1
    assert damaged.name in result.stderr
    assert "1 files moved" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("main", "third"), "there is no [storages.third]"),
        (("main", "main"), "the same storage"),
        (("main", "second", "--rate", "fast"), "must be like 500k"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused(
    config: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = run_command("--config", str(config), "storage", "migrate", *arguments)
    assert result.returncode == MISUSE
    assert message in result.stderr


def test_a_rate_holds_the_copying_back(config: Path) -> None:
    store_files(config, 2)
    arguments = ("storage", "migrate", "main", "second", "--rate", "1M", "--jobs", "1")
    assert run_command("--config", str(config), *arguments).returncode == 0
