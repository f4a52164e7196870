"""``strongroom audit``, as an operator runs it."""

import json
from pathlib import Path

import pytest
from tests.support.commands import run_command
from tests.support.config import change_config
from tests.unit.activity.audit.conftest import Record

from strongroom.foundation.database import Database
from strongroom.testing.clock import ManualClock

MISUSE = 2


@pytest.fixture
def clock() -> ManualClock:
    """A clock of long ago, since the command goes by the machine's."""
    return ManualClock(1_000_000_000_000)


def test_verify_prints_how_many_are_good_and_the_link_to_keep(config: Path, record: Record) -> None:
    record(3)
    result = run_command("--config", str(config), "audit", "verify", "--json")
    assert result.returncode == 0
    verified = json.loads(result.stdout)
    assert verified["records"] == 3
    said = run_command("--config", str(config), "audit", "verify", "--expect", verified["newest"])
    assert said.returncode == 0
    assert said.stdout == f"3 records are valid; the newest is {verified['newest']}\n"


def test_verify_names_the_first_record_that_does_not_fit(
    config: Path, record: Record, database: Database
) -> None:
    record(5)
    newest = json.loads(run_command("--config", str(config), "audit", "verify", "--json").stdout)[
        "newest"
    ]
    with database.write() as connection:
        connection.exec_driver_sql("DELETE FROM audit_events WHERE sequence = 5")
    assert run_command("--config", str(config), "audit", "verify").returncode == 0
    cut = run_command("--config", str(config), "audit", "verify", "--expect", newest)
    assert (cut.returncode, cut.stdout) == (1, "")
    assert cut.stderr == "Error: record 5 was removed, and all that followed\n"
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE audit_events SET action = 'other' WHERE sequence = 2")
    changed = run_command("--config", str(config), "audit", "verify")
    assert changed.returncode == 1
    assert changed.stderr.startswith("Error: record 2 was changed")


def test_a_link_that_is_none_is_refused(config: Path) -> None:
    result = run_command("--config", str(config), "audit", "verify", "--expect", "12")
    assert result.returncode == MISUSE
    assert "--expect" in result.stderr


def test_prune_removes_records_older_than_configured(config: Path, record: Record) -> None:
    record(3)
    assert run_command("--config", str(config), "audit", "prune").stdout == "0 records removed\n"
    change_config(config, {"audit": {"retention_days": 365}})
    assert run_command("--config", str(config), "audit", "prune").stdout == "3 records removed\n"
    result = run_command("--config", str(config), "audit", "verify")
    assert result.stdout.startswith("1 records are valid; the newest is 4:")


def test_a_retention_below_zero_is_refused(config: Path) -> None:
    change_config(config, {"audit": {"retention_days": -1}})
    result = run_command("--config", str(config), "audit", "prune")
    assert result.returncode == MISUSE
    assert "audit.retention_days: must be from 0 to 36500" in result.stderr
