"""The chain is verified in ranges by processes that may be killed, and a fault in any range is found."""

import hmac
import json
from collections.abc import Callable
from contextlib import suppress
from random import Random
from threading import Event

import pytest
from sqlalchemy import text
from tests.support.campaign import campaign_size
from tests.unit.activity.audit.conftest import Record

from strongroom.activity.audit import verifier
from strongroom.activity.audit.chain import Link
from strongroom.activity.audit.service import AuditService
from strongroom.activity.audit.verifier import (
    AuditRetention,
    AuditVerifier,
    ChainBroken,
    ChainVerification,
    ProgressChanged,
)
from strongroom.clock import DAY
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.key_ranges import LEASE, KeyRange, KeyRanges, RangeBatch
from strongroom.foundation.database.range_work import Keep, RangeWorker
from strongroom.testing.clock import SECOND, ManualClock

pytestmark = pytest.mark.both_databases

RECORDS = 90
RANGES = 7
FAULTS = campaign_size("RANGE_FAULTS", 6)
CHANGES = (
    "DELETE FROM audit_events WHERE sequence = :sequence",
    "UPDATE audit_events SET hash = 'another' WHERE sequence = :sequence",
    "UPDATE audit_events SET actor_id = 'another' WHERE sequence = :sequence",
)


@pytest.fixture(autouse=True)
def few_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "RANGE_BATCH", 3)


def sign(content: str) -> str:
    return hmac.digest(b"secret", content.encode(), "sha256").hex()


def verify(database: Database, clock: ManualClock, expected: Link | None = None) -> verifier.Verified:
    task = ChainVerification(database, sign, expected)
    ranges = KeyRanges(database, clock, task.name)
    run = ranges.begin(task.split).run
    assert RangeWorker(ranges, task, Event()).run(run)
    try:
        task.finish(ranges.all())
    finally:
        ranges.end()
    return task.verified


def first_misfit(database: Database, clock: ManualClock, expected: Link | None = None) -> int:
    with pytest.raises(ChainBroken) as broken:
        verify(database, clock, expected)
    return broken.value.sequence


def test_a_chain_in_ranges_is_as_valid_as_in_one(
    database: Database, record: Record, clock: ManualClock
) -> None:
    assert verify(database, clock) == AuditVerifier(database).verify()
    record(RECORDS)
    task = ChainVerification(database, sign)
    ranges = KeyRanges(database, clock, task.name)
    progress = ranges.begin(task.split)
    assert progress.ranges == RANGES
    ranges.end()
    verified = AuditVerifier(database).verify()
    assert verify(database, clock) == verified
    assert verify(database, clock, verified.last) == verified
    for sequence in (5, RECORDS, RECORDS + 1):
        assert first_misfit(database, clock, Link(sequence, "0" * 64)) == sequence


def test_a_fault_in_any_range_is_found_where_one_process_finds_it(
    database: Database, record: Record, clock: ManualClock
) -> None:
    record(RECORDS)
    random = Random(3)
    with database.write() as connection:
        connection.execute(text("CREATE TABLE kept AS SELECT * FROM audit_events"))
    # The ends of ranges are among them.
    places = [1, 12, 13, RECORDS - 1, *random.sample(range(1, RECORDS), FAULTS)]
    for place in places:
        with database.write() as connection:
            connection.execute(text(random.choice(CHANGES)), {"sequence": place})
        with pytest.raises(ChainBroken) as broken:
            AuditVerifier(database).verify()
        assert first_misfit(database, clock) == broken.value.sequence
        with database.write() as connection:
            connection.execute(text("DELETE FROM audit_events"))
            connection.execute(text("INSERT INTO audit_events SELECT * FROM kept"))
    assert verify(database, clock).records == RECORDS
    with database.write() as connection:
        connection.execute(text("DROP TABLE kept"))


class Killed(BaseException):
    """The process ends at once."""


class _Killable(ChainVerification):
    def __init__(self, database: Database, left: int) -> None:
        super().__init__(database, sign)
        self._left = left

    def read(self, key_range: KeyRange, keep: Keep) -> RangeBatch:
        self._left -= 1
        if self._left < 0:
            raise Killed
        return super().read(key_range, keep)


def test_a_killed_verification_continues_while_records_are_added_and_removed(
    database: Database, record: Record, clock: ManualClock, audit: AuditService
) -> None:
    record(RECORDS)
    clock.advance(DAY - (RECORDS - 20) * SECOND)
    random, rows = Random(4), 0
    for _ in range(8):
        task = _Killable(database, random.randrange(5))
        ranges = KeyRanges(database, clock, task.name)
        run = ranges.begin(task.split).run
        with suppress(Killed):
            RangeWorker(ranges, task, Event()).run(run)
        clock.advance(LEASE)
        current = ranges.progress()
        assert current is not None
        assert current.rows >= rows
        rows = current.rows
        record(1)
    AuditRetention(database, clock, audit, 1, batch=10).prune(Origin())
    verified = verify(database, clock)
    assert verified.last == AuditVerifier(database).verify().last


def _forge(database: Database, change: str) -> None:
    with database.write() as connection:
        connection.execute(text(f"UPDATE key_ranges SET {change}"))


def _forge_all(database: Database) -> None:
    """Declare all ranges valid, with the links that the chain has."""
    for key_range in KeyRanges(database, ManualClock(), ChainVerification.name).all():
        start, end = (
            _link(database, int(key)) for key in (key_range.first or 0, key_range.last or RECORDS)
        )
        state = f"{'0' * 64}{json.dumps([start, end, None, True])}"
        number = key_range.number
        _forge(database, f"is_done = (1 = 1), state = '{state}' WHERE number = {number}")
    _forge_record(database, RECORDS // 2)


def _forge_record(database: Database, sequence: int) -> None:
    with database.write() as connection:
        change = text("UPDATE audit_events SET actor_id = 'another' WHERE sequence = :sequence")
        connection.execute(change, {"sequence": sequence})


def _link(database: Database, sequence: int) -> str:
    with database.read() as connection:
        query = text("SELECT hash FROM audit_events WHERE sequence = :sequence")
        stored = connection.execute(query, {"sequence": sequence}).scalar() or "0" * 64
    return f"{sequence}:{stored}"


@pytest.mark.parametrize(
    "forge",
    [
        lambda database: _forge(database, "is_done = (1 = 1)"),
        lambda database: _forge(database, "state = (SELECT max(state) FROM key_ranges)"),
        lambda database: _forge(database, "last = '80' WHERE number = 0"),
        _forge_all,
    ],
)
def test_a_forged_progress_is_refused(
    database: Database, record: Record, clock: ManualClock, forge: Callable[[Database], None]
) -> None:
    record(RECORDS)
    task = _Killable(database, 9)
    ranges = KeyRanges(database, clock, task.name)
    run = ranges.begin(task.split).run
    with suppress(Killed):
        RangeWorker(ranges, task, Event()).run(run)
    clock.advance(LEASE)
    forge(database)
    with pytest.raises(ProgressChanged):
        verify(database, clock)


def test_hashes_that_are_recomputed_between_two_ranges_are_found(
    database: Database, record: Record, clock: ManualClock
) -> None:
    record(RECORDS)
    task, stop = ChainVerification(database, sign), Event()
    ranges = KeyRanges(database, clock, task.name)
    run = ranges.begin(task.split).run

    def stop_after_a_range() -> None:
        if (progress := ranges.progress()) and progress.done == 1:
            stop.set()

    assert not RangeWorker(ranges, task, stop).run(run, stop_after_a_range)
    changed = int(ranges.all()[0].last or 0)
    _recompute(database, changed)
    assert AuditVerifier(database).verify().records == RECORDS
    assert first_misfit(database, clock) == changed


def _recompute(database: Database, sequence: int) -> None:
    """Change a record, and recompute all hashes from it on."""
    previous = Link.parse(_link(database, sequence - 1)).hash
    _forge_record(database, sequence)
    with database.write() as connection:
        for row in verifier._RECORDS_AFTER.all(connection, {"after": sequence - 1}):
            previous = verifier._recomputed_hash(Link(row["sequence"] - 1, previous), row) or ""
            change = text("UPDATE audit_events SET hash = :hash WHERE sequence = :sequence")
            connection.execute(change, {"hash": previous, "sequence": row["sequence"]})


def test_a_run_of_the_week_before_is_not_continued(
    database: Database, record: Record, clock: ManualClock
) -> None:
    record(RECORDS)
    task = ChainVerification(database, sign)
    ranges = KeyRanges(database, clock, task.name)
    former = ranges.begin(task.split, max_age=7 * DAY)
    clock.advance(7 * DAY + 1)
    assert ranges.begin(task.split, max_age=7 * DAY).run != former.run
