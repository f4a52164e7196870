"""Old records may be pruned, and the chain can still be verified."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select
from tests.support.audit import first_misfit
from tests.unit.activity.audit.conftest import Record

from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.activity.audit.verifier import AuditRetention, AuditVerifier, ChainBroken
from strongroom.clock import iso_format
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.testing.clock import HOUR, SECOND, ManualClock

DAY = 24 * HOUR


@pytest.fixture
def retention(database: Database, clock: ManualClock, audit: AuditService) -> AuditRetention:
    """A retention of thirty days."""
    return AuditRetention(database, clock, audit, 30, batch=4)


def actions(database: Database) -> list[tuple[int, str]]:
    """Return the sequence and the action of each record."""
    query = select(audit_events.c.sequence, audit_events.c.action).order_by(audit_events.c.sequence)
    with database.read() as connection:
        return [(row.sequence, row.action) for row in connection.execute(query)]


def test_only_records_older_than_the_days_are_removed(
    database: Database, record: Record, retention: AuditRetention, clock: ManualClock
) -> None:
    record(3)
    clock.advance(30 * DAY - 2 * SECOND)
    assert retention.prune(Origin()) == 1
    assert actions(database) == [(2, "test.happen"), (3, "test.happen"), (4, "audit.prune")]
    assert retention.prune(Origin()) == 0
    assert len(actions(database)) == 3


def test_the_removal_is_recorded_with_the_last_link_that_went(
    database: Database, record: Record, retention: AuditRetention, clock: ManualClock
) -> None:
    record(3)
    last = AuditVerifier(database).verify().last
    clock.advance(40 * DAY)
    retention.prune(Origin(user_agent="command line"))
    with database.read() as connection:
        row = connection.execute(select(audit_events)).one()
    assert (row.sequence, row.action, row.user_agent) == (4, "audit.prune", "command line")
    assert row.details == {"through": str(last), "before": iso_format(clock.now() - 30 * DAY)}


def test_the_chain_verifies_and_goes_on_after_each_of_many_removals(
    database: Database, record: Record, retention: AuditRetention, clock: ManualClock
) -> None:
    for _ in range(3):
        record(10)
        clock.advance(31 * DAY)
        assert retention.prune(Origin()) >= 10
        verified = AuditVerifier(database).verify()
        assert verified.records == len(actions(database))
    record(5)
    assert AuditVerifier(database).verify().last.sequence == verified.last.sequence + 5


def test_for_ever_removes_nothing(
    database: Database, record: Record, clock: ManualClock, audit: AuditService
) -> None:
    record(3)
    clock.advance(36_500 * DAY)
    assert AuditRetention(database, clock, audit, 0).prune(Origin()) == 0
    assert len(actions(database)) == 3


@pytest.mark.parametrize(
    ("statement", "misfit"),
    [
        ("DELETE FROM audit_events WHERE sequence = 13", 13),
        ("DELETE FROM audit_events WHERE sequence = 11", 11),
        ("UPDATE audit_events SET outcome = 'failure' WHERE sequence = 11", 11),
        ("DELETE FROM audit_events WHERE action = 'audit.prune'", 1),
        ("UPDATE audit_events SET action = 'harmless' WHERE sequence = 18", 9),
        ("UPDATE audit_events SET details = '{}' WHERE sequence = 18", 18),
        ("UPDATE audit_events SET details = '[]' WHERE sequence = 18", 18),
        ("UPDATE audit_events SET sequence = 2 WHERE sequence = 12", 2),
    ],
)
def test_after_a_removal_tampering_still_shows(
    database: Database,
    record: Record,
    retention: AuditRetention,
    clock: ManualClock,
    statement: str,
    misfit: int,
) -> None:
    record(10)
    clock.advance(31 * DAY)
    record(5)
    assert retention.prune(Origin()) == 10
    assert AuditVerifier(database).verify().records == 8
    assert actions(database)[-1] == (18, "audit.prune")
    with database.write() as connection:
        connection.exec_driver_sql(statement)
    assert first_misfit(database) == misfit


def test_a_link_kept_from_before_a_removal_says_so(
    database: Database, record: Record, retention: AuditRetention, clock: ManualClock
) -> None:
    verifier = AuditVerifier(database)
    record(3)
    kept = verifier.verify().last
    clock.advance(31 * DAY)
    retention.prune(Origin())
    assert verifier.verify(kept).records == 1
    clock.advance(31 * DAY)
    retention.prune(Origin())
    with pytest.raises(ChainBroken, match="record 3 was removed by retention"):
        verifier.verify(kept)


def test_removing_writing_and_verifying_at_once_leave_the_chain_good(
    database: Database, record: Record, audit: AuditService, clock: ManualClock
) -> None:
    record(200)
    clock.advance(31 * DAY)

    def prune() -> int:
        return AuditRetention(database, clock, audit, 30, batch=4).prune(Origin())

    def write() -> None:
        for _ in range(50):
            with database.write() as connection:
                audit.record(connection, AuditEvent("test"))

    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write) for _ in range(2)]
        pruners = [pool.submit(prune) for _ in range(2)]
        while not all(pruner.done() for pruner in pruners):
            AuditVerifier(database).verify()
    for writer in writers:
        writer.result()
    assert sum(pruner.result() for pruner in pruners) == 200
    assert AuditVerifier(database).verify().records == 100 + 200 // 4
