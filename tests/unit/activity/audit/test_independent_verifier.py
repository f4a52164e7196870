"""The verifier of examples/audit-verifier finds each change of an export, without Strongroom."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.activity.audit.conftest import Record

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.extensions.audit_exports.export import AuditExport
from strongroom.foundation.database import Database
from strongroom.testing.clock import ManualClock

VERIFIER = Path(__file__).parents[4] / "examples/audit-verifier/verify_audit_export.py"
RECORDS = 6

Change = Callable[[list[str]], list[str]]


@pytest.fixture
def lines(database: Database, clock: ManualClock, audit: AuditService, record: Record) -> list[str]:
    record(RECORDS - 1)
    with database.write() as connection:
        audit.record(connection, AuditEvent("test.text", details={"text": '改名 \ud83d \\ "'}))
    export = AuditExport(database, clock, "https://files.example.com", json.dumps)
    return list(export.lines(export.find(None, None)))


def run(folder: Path, lines: list[str], *links: str) -> "subprocess.CompletedProcess[str]":
    file = folder / "audit.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
    # Isolated, so that it finds only the standard library.
    command = [sys.executable, "-I", "-S", str(VERIFIER), str(file), *links]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def link_of(line: str) -> str:
    record = json.loads(line)
    return f"{record['sequence']}:{record['hash']}"


@pytest.mark.both_databases
def test_an_export_is_valid_up_to_its_newest_link(tmp_path: Path, lines: list[str]) -> None:
    links = [link_of(line) for line in lines[1:-1]]
    assert len(links) == RECORDS
    result = run(tmp_path, lines, *links)
    assert (result.stdout.strip(), result.stderr) == (links[-1], "")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda lines: [line.replace("someone", "another") for line in lines], "record 1 was changed"),
        (lambda lines: [*lines[:3], *lines[4:]], "record 3 was removed or moved"),
        (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], "record 3 was removed or moved"),
        (lambda lines: lines[:4], "the checkpoint is missing"),
        (lambda lines: [*lines, lines[-2]], "lines after the checkpoint"),
    ],
    ids=["changed", "removed", "swapped", "truncated", "appended"],
)
def test_each_change_is_found(tmp_path: Path, lines: list[str], change: Change, fault: str) -> None:
    result = run(tmp_path, change(lines))
    assert result.returncode == 1
    assert fault in result.stderr


def test_a_stored_link_shows_that_the_newest_records_were_removed(
    tmp_path: Path, lines: list[str]
) -> None:
    shorter = [*lines[:-2], lines[-1]]
    assert run(tmp_path, shorter).returncode == 0
    result = run(tmp_path, shorter, link_of(lines[-2]))
    assert result.returncode == 1
    assert f"does not contain {RECORDS}:" in result.stderr


def test_it_is_short_and_imports_nothing_of_strongroom() -> None:
    text = VERIFIER.read_text()
    assert "import strongroom" not in text
    assert "from strongroom" not in text
    assert len(text.splitlines()) < 70
