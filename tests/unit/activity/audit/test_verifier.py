"""What shows in the chain, and what only shows against a link that was kept elsewhere."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import delete, insert, select, update
from tests.support.audit import first_misfit
from tests.support.databases import SqliteDatabases
from tests.unit.activity.audit.conftest import Record

from strongroom.activity.audit.chain import GENESIS, Link, chain_hash
from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.activity.audit.verifier import AuditVerifier
from strongroom.foundation.database import Database

RECORDS = 10
ONE_LATER = "UPDATE audit_events SET sequence = -(sequence + 1) WHERE sequence > 5"
ONE_EARLIER = "UPDATE audit_events SET sequence = -(sequence - 1) WHERE sequence > 5"
UPRIGHT = "UPDATE audit_events SET sequence = -sequence WHERE sequence < 0"
COPY = """
INSERT INTO audit_events SELECT {sequence}, at, action, outcome, actor_id, target_type, target_id,
address, user_agent, request_id, details, hash, traceparent FROM audit_events WHERE sequence = {original}
"""
VERIFY_AND_PRINT_PEAK = """
import sys
from pathlib import Path
from strongroom.activity.audit.verifier import AuditVerifier
from strongroom.foundation.database import Database
AuditVerifier(Database(sys.argv[1])).verify()
print(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])
"""


def tamper(database: Database, *statements: str) -> None:
    """Change records as an attacker with write access to the database would."""
    with database.write() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def test_an_unchanged_chain_is_valid(database: Database, record: Record) -> None:
    assert AuditVerifier(database).verify().last == GENESIS
    record(RECORDS)
    verified = AuditVerifier(database).verify()
    assert (verified.records, verified.last.sequence) == (RECORDS, RECORDS)
    with database.read() as connection:
        last = connection.execute(select(audit_events.c.hash).where(audit_events.c.sequence == RECORDS))
        assert verified.last.hash == last.scalar_one()


@pytest.mark.parametrize(
    "change",
    ["at = at + 1", "action = 'audit.prune'", "outcome = 'failure'", "actor_id = 'another'",
     "actor_id = NULL", "target_type = 'user'", "target_id = 'another'", "address = '192.0.2.1'",
     "address = ''", "user_agent = 'another'", "request_id = 'another'",
     """details = '{"number": "5"}'""", """details = '{"number": 4}'""", "details = '[]'",
     "hash = 'another'"],
)  # fmt: skip
def test_a_changed_column_shows(database: Database, record: Record, change: str) -> None:
    record(RECORDS)
    tamper(database, f"UPDATE audit_events SET {change} WHERE sequence = 5")
    assert first_misfit(database) == 5


@pytest.mark.parametrize(
    ("statements", "misfit"),
    [
        pytest.param(["DELETE FROM audit_events WHERE sequence = 5"], 5, id="removed"),
        pytest.param(["DELETE FROM audit_events WHERE sequence IN (5, 6, 8)"], 5, id="several removed"),
        pytest.param(["DELETE FROM audit_events WHERE sequence < 5"], 1, id="beginning removed"),
        pytest.param(
            ["DELETE FROM audit_events WHERE sequence = 5", ONE_EARLIER, UPRIGHT], 5, id="gap closed"
        ),
        pytest.param([ONE_LATER, UPRIGHT, COPY.format(sequence=6, original=5)], 6, id="inserted"),
        pytest.param([COPY.format(sequence=11, original=10)], 11, id="appended"),
        pytest.param([COPY.format(sequence=0, original=1)], 0, id="put before"),
        pytest.param(
            [
                "UPDATE audit_events SET sequence = -5 WHERE sequence = 8",
                "UPDATE audit_events SET sequence = 8 WHERE sequence = 5",
                UPRIGHT,
            ],
            5,
            id="swapped",
        ),
    ],
)
def test_records_removed_inserted_or_moved_show(
    database: Database, record: Record, statements: list[str], misfit: int
) -> None:
    record(RECORDS)
    tamper(database, *statements)
    assert first_misfit(database) == misfit


def test_a_value_of_another_type_is_detected(sqlite_databases: SqliteDatabases) -> None:
    with sqlite_databases.create() as url:
        database = Database(url)
        with database.write() as connection:
            connection.execute(insert(audit_events).values(row_after(GENESIS)))
        for change in ("details = '{'", "details = 7", "user_agent = x'00ff'", "at = 'never'"):
            tamper(database, f"UPDATE audit_events SET {change}")
            assert first_misfit(database) == 1
        database.close()


def test_a_cut_end_shows_only_against_a_link_kept_elsewhere(database: Database, record: Record) -> None:
    record(RECORDS)
    kept = AuditVerifier(database).verify().last
    tamper(database, "DELETE FROM audit_events WHERE sequence > 7")
    assert AuditVerifier(database).verify().records == 7
    assert first_misfit(database, kept) == 8
    tamper(database, "DELETE FROM audit_events")
    assert AuditVerifier(database).verify().records == 0
    assert first_misfit(database, kept) == 1


def test_a_recomputed_chain_is_detected_only_by_an_external_link(
    database: Database, record: Record
) -> None:
    record(RECORDS)
    kept = AuditVerifier(database).verify().last
    record(RECORDS)
    assert AuditVerifier(database).verify(kept).records == 2 * RECORDS
    recompute(database, 5)
    assert AuditVerifier(database).verify().records == 2 * RECORDS
    assert first_misfit(database, kept) == kept.sequence


def recompute(database: Database, changed: int) -> None:
    """Change a record, and give it and all that follow the hashes that fit."""
    tamper(database, f"UPDATE audit_events SET action = 'harmless' WHERE sequence = {changed}")
    with database.write() as connection:
        rows = connection.execute(select(audit_events).order_by(audit_events.c.sequence)).mappings()
        previous = GENESIS.hash
        for row in rows.all():
            previous = chain_hash(previous, {key: row[key] for key in row if key != "hash"})
            this = audit_events.c.sequence == row["sequence"]
            connection.execute(update(audit_events).where(this).values(hash=previous))


def test_a_chain_is_good_at_every_moment_while_others_write(
    database: Database, audit: AuditService
) -> None:
    def write() -> None:
        for _ in range(50):
            with database.write() as connection:
                audit.record(connection, AuditEvent("test"))

    verifier = AuditVerifier(database)
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write) for _ in range(4)]
        last = GENESIS
        while not all(writer.done() for writer in writers):
            last = verifier.verify(last).last
    assert verifier.verify(last).records == 200


def test_a_long_chain_needs_no_more_memory_than_a_short_one(
    database: Database, database_url: str
) -> None:
    fill(database, 1000)
    short = peak_of_verifying(database_url)
    fill(database, 6000)
    assert peak_of_verifying(database_url) < 1.2 * short


def peak_of_verifying(database_url: str) -> int:
    """Return the memory, in KiB, that a process has used once it has walked along the chain."""
    result = subprocess.run(
        [sys.executable, "-c", VERIFY_AND_PRINT_PEAK, database_url],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(result.stdout)


def fill(database: Database, count: int) -> None:
    """Make a chain of this many records."""
    rows, last = [], GENESIS
    for _ in range(count):
        rows.append(row_after(last))
        last = Link(last.sequence + 1, str(rows[-1]["hash"]))
    with database.write() as connection:
        connection.execute(delete(audit_events))
        connection.execute(insert(audit_events), rows)


def row_after(last: Link) -> dict[str, object]:
    """Return a record that follows a link."""
    empty: dict[str, object] = {column.name: None for column in audit_events.c if column.name != "hash"}
    row = empty | {
        "sequence": last.sequence + 1,
        "at": 1_782_000_000_000,
        "action": "test",
        "outcome": "success",
        "details": {"text": "x" * 8000},
    }
    return {**row, "hash": chain_hash(last.hash, row)}
