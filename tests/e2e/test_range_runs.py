"""Commands on all rows of a large table continue after SIGKILL and SIGTERM, and count each row once."""

import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random
from time import sleep

import pytest
from bench.people import plant
from sqlalchemy import text

from strongroom.assembly.app import create_app, get_container
from strongroom.clock import SystemClock
from strongroom.foundation.config import load
from strongroom.foundation.database import Database
from strongroom.foundation.database.key_ranges import KeyRanges, RunProgress
from tests.support.campaign import campaign_size
from tests.support.commands import CommandProcess, run_command
from tests.support.databases import on_postgresql
from tests.support.waiting import wait_until

pytestmark = on_postgresql

USERS = 5000
KILLS = campaign_size("RANGE_PROCESS_KILLS", 1)


@pytest.fixture
def database(server_config: Path) -> Iterator[Database]:
    container = get_container(create_app(load(server_config, {})))
    plant(container, USERS)
    with container.database.write() as connection:
        connection.execute(text("UPDATE user_search SET folded = 'x' WHERE number % 2 = 0"))
    yield container.database
    container.close()


def progress(database: Database) -> RunProgress | None:
    return KeyRanges(database, SystemClock(), "users.reindex").progress()


def has_passed(database: Database, rows: int) -> bool:
    current = progress(database)
    return current is not None and current.rows > rows


def test_a_reindexing_in_two_processes_continues_after_kills_and_a_stop(
    server_config: Path, database: Database, tmp_path: Path
) -> None:
    command = ("--config", str(server_config), "users", "reindex")
    output, random, rows = tmp_path / "output", Random(7), 0
    streams = {"stdin": tmp_path / "input", "stdout": output, "stderr": output}
    for number in (*[signal.SIGKILL] * KILLS, signal.SIGTERM):
        process = CommandProcess([*command, "--jobs", "2", "--pause-ms", "300"], streams)
        wait_until(partial(has_passed, database, rows))
        sleep(random.random() / 2)
        process.send_signal(number)
        assert process.wait() != 0
        current = progress(database)
        assert current is not None
        assert current.rows < USERS
        rows = current.rows
    assert "stopped after" in output.read_text()
    last = run_command(*command)
    assert "continues the run of" in last.stderr
    assert last.stdout == f"{USERS // 2} users corrected\n"
    assert progress(database) is None
