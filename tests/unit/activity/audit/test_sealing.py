"""Audit events wait for no other transaction, and get their places in the chain afterwards."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import pytest
from sqlalchemy import func, insert, select, text
from tests.support.campaign import campaign_size
from tests.support.databases import on_postgresql
from tests.support.waiting import wait_until

from strongroom.activity.audit.chain import append_rows, lock_chain
from strongroom.activity.audit.models import audit_events, unsealed_audit_events
from strongroom.activity.audit.sealing import Sealer, seal, seal_batch
from strongroom.activity.audit.service import (
    AuditEvent,
    AuditFilter,
    AuditListing,
    AuditService,
)
from strongroom.activity.audit.verifier import AuditRetention, AuditVerifier
from strongroom.clock import DAY
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Paging
from strongroom.identity.users.service import UserService
from strongroom.testing.clock import ManualClock

WRITERS = 8
COMMIT_SECONDS = 0.02
SLOW_COMMITS = f"""
CREATE TABLE slow_commits (number integer);
CREATE FUNCTION wait_for_standby() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN PERFORM pg_sleep({COMMIT_SECONDS}); RETURN NULL; END';
CREATE CONSTRAINT TRIGGER waits AFTER INSERT ON slow_commits DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION wait_for_standby();
"""


def write(database: Database, audit: AuditService, *numbers: object) -> None:
    """Record events in one transaction."""
    events = [AuditEvent("test.happen", details={"number": str(number)}) for number in numbers]
    with database.write() as connection:
        audit.record_all(connection, events)


def count_unsealed(database: Database) -> int:
    with database.read() as connection:
        return connection.execute(select(func.count()).select_from(unsealed_audit_events)).scalar_one()


def numbers(database: Database) -> list[str]:
    """Return the numbers of the sealed events in the order of the chain."""
    query = select(audit_events.c.details).order_by(audit_events.c.sequence)
    with database.read() as connection:
        return [details["number"] for details in connection.execute(query).scalars()]


def repeat_during(others: Sequence[Future[None]], action: Callable[[], object]) -> None:
    """Repeat an action until the others are done."""
    while not all(other.done() for other in others):
        action()


@contextmanager
def locked_chain(database: Database) -> Iterator[None]:
    """Keep the chain locked by another transaction, as a server of the version before does."""
    is_locked, is_over = Event(), Event()

    def keep_locked() -> None:
        with database.write() as connection:
            lock_chain(connection)
            is_locked.set()
            is_over.wait()

    with ThreadPoolExecutor(1) as pool:
        keeping = pool.submit(keep_locked)
        is_locked.wait()
        try:
            yield
        finally:
            is_over.set()
            keeping.result()


@on_postgresql
def test_a_locked_chain_delays_no_writer(database: Database, audit: AuditService) -> None:
    with locked_chain(database), ThreadPoolExecutor(1) as pool:
        pool.submit(write, database, audit, 1).result(timeout=60)
        assert count_unsealed(database) == 1
    seal(database)
    assert numbers(database) == ["1"]


@on_postgresql
def test_each_reader_finds_what_was_committed_before(
    database: Database, audit: AuditService, clock: ManualClock
) -> None:
    listing, verifier = AuditListing(database, UserService(clock)), AuditVerifier(database)
    readers: list[Callable[[], int]] = [
        verifier.newest,
        verifier.count,
        lambda: verifier.verify().records,
        lambda: listing.page(AuditFilter(), Paging(0, 10))[0].total,
    ]
    for number, read in enumerate(readers, 1):
        write(database, audit, number)
        assert read() == number


@pytest.mark.both_databases
def test_events_of_a_transaction_keep_their_order(database: Database, audit: AuditService) -> None:
    write(database, audit, *range(1200))
    seal(database)
    assert numbers(database) == [str(number) for number in range(1200)]
    assert AuditVerifier(database).verify().records == 1200


@on_postgresql
def test_a_seal_that_fails_loses_nothing_and_repeats_nothing(
    database: Database, audit: AuditService
) -> None:
    write(database, audit, 1, 2)
    with database.write() as connection:
        assert seal_batch(connection) is not None
        connection.rollback()
    assert numbers(database) == []
    assert count_unsealed(database) == 2
    seal(database)
    seal(database)
    assert numbers(database) == ["1", "2"]


@on_postgresql
def test_sealers_writers_of_both_versions_and_verifiers_at_once(
    database: Database, audit: AuditService
) -> None:
    turns = campaign_size("SEALED_TURNS", 15)

    def write_directly(worker: int) -> None:
        # As the version before: under the lock, from the event to the commit.
        for number in range(turns):
            with database.write() as connection:
                lock_chain(connection)
                append_rows(connection, [audit.row(event_of(f"old {worker} {number}"))])

    def write_unsealed(worker: int) -> None:
        for number in range(turns):
            write(database, audit, *(f"new {worker} {number}.{part}" for part in (1, 2)))

    with ThreadPoolExecutor() as pool:
        writers = [pool.submit(work, n) for n in (1, 2) for work in (write_directly, write_unsealed)]
        others = [
            pool.submit(repeat_during, writers, action)
            for action in (
                lambda: seal(database),
                lambda: seal(database),
                lambda: AuditVerifier(database).verify(),
            )
        ]
        for future in (*writers, *others):
            future.result()
    seal(database)
    written = numbers(database)
    assert len(written) == len(set(written)) == AuditVerifier(database).verify().records
    assert len(written) == 2 * turns + 2 * turns * 2
    for worker in (1, 2):
        own = [number for number in written if number.startswith(f"new {worker} ")]
        assert own == [f"new {worker} {number}.{part}" for number in range(turns) for part in (1, 2)]


def event_of(number: str) -> AuditEvent:
    return AuditEvent("test.happen", details={"number": number})


@on_postgresql
def test_retention_removes_and_seals_while_the_clock_goes_back(
    database: Database, audit: AuditService, clock: ManualClock
) -> None:
    retention = AuditRetention(database, clock, audit, 30, batch=4)
    write(database, audit, *range(10))
    clock.advance(31 * DAY)
    write(database, audit, 10)
    clock.advance(-2 * DAY)
    write(database, audit, 11)
    clock.advance(3 * DAY)
    assert retention.prune(Origin()) == 10
    # The two others, and the records of three removals.
    assert AuditVerifier(database).verify().records == 5


@on_postgresql
def test_a_process_seals_soon_after_its_commits_and_what_others_left(
    database: Database, audit: AuditService
) -> None:
    write(database, audit, "left")
    sealer = Sealer(database)
    sealer.start()
    try:
        wait_until(lambda: numbers(database) == ["left"])
        write(database, audit, "own")
        wait_until(lambda: numbers(database) == ["left", "own"])
    finally:
        sealer.stop()


@pytest.mark.both_databases
def test_a_stopped_process_leaves_nothing(database: Database, audit: AuditService) -> None:
    sealer = Sealer(database)
    sealer.start()
    write(database, audit, 1)
    sealer.stop()
    assert numbers(database) == ["1"]


@pytest.mark.both_databases
def test_restored_rows_are_sealed_on_each_database(database: Database, audit: AuditService) -> None:
    with database.write() as connection:
        rows = [{"id": 5 + n, **audit.row(event_of(str(n)))} for n in range(3)]
        connection.execute(insert(unsealed_audit_events), rows)
        while seal_batch(connection) is not None:
            pass
    assert numbers(database) == ["0", "1", "2"]
    assert AuditVerifier(database).verify().records == 3


@pytest.mark.extended
@on_postgresql
def test_audited_changes_grow_with_their_writers(database: Database, audit: AuditService) -> None:
    """Each commit waits, as for a synchronous standby; the waits of several writers overlap."""
    with database.write() as connection:
        connection.execute(text(SLOW_COMMITS))
    turns = campaign_size("SLOW_COMMITS", 20)

    def change(_worker: int) -> None:
        for number in range(turns):
            with database.write() as connection:
                connection.execute(text("INSERT INTO slow_commits VALUES (1)"))
                audit.record(connection, event_of(str(number)))

    def measure(writers: int) -> float:
        """Return the changes per second of so many writers."""
        began = time.perf_counter()
        with ThreadPoolExecutor(writers) as pool:
            list(pool.map(change, range(writers)))
        return writers * turns / (time.perf_counter() - began)

    change(0)
    alone = measure(1)
    assert measure(WRITERS) >= 3 * alone
    assert AuditVerifier(database).verify().records == (WRITERS + 2) * turns
