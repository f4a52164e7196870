"""The clock that ends retention."""

import pytest

from strongroom.content.nodes.retention_clock import (
    ClockRow,
    RetentionClock,
    merge_clock,
    read_clock,
    take_clock,
)
from strongroom.content.nodes.retention_models import RetentionMode, RetentionSettings
from strongroom.foundation.database import Database
from strongroom.testing.clock import HOUR, ManualClock

NONE = RetentionSettings(30, 20, 180, 0, RetentionMode.GOVERNANCE)
DAYS = NONE._replace(minimum_days=7)
STRICT = NONE._replace(minimum_days=7, mode=RetentionMode.COMPLIANCE)


class Server:
    """A process with the clock, and its own monotonic clock in seconds."""

    def __init__(self, database: Database, clock: ManualClock, settings: RetentionSettings) -> None:
        self.elapsed = 1000.0
        self.clock = RetentionClock(database, clock, settings, lambda: self.elapsed)

    def run(self, seconds: float) -> None:
        """Let time pass, and advance the clock."""
        self.elapsed += seconds
        self.clock.tick()


def now(database: Database) -> int:
    """Return the time of the clock."""
    with database.read() as connection:
        row = read_clock(connection)
    assert row is not None
    return row.now


def test_it_runs_only_if_it_is_needed(database: Database, clock: ManualClock) -> None:
    Server(database, clock, NONE).run(0)
    with database.read() as connection:
        assert read_clock(connection) is None
    Server(database, clock, DAYS).run(0)
    assert now(database) == clock.now()


def test_the_clock_of_the_machine_does_not_move_it(database: Database, clock: ManualClock) -> None:
    began, server = clock.now(), Server(database, clock, DAYS)
    server.run(0)
    for change in (1000 * HOUR, -5000 * HOUR):
        clock.advance(change)
        server.run(60)
    assert now(database) == began + 120_000


def test_changes_are_never_dated_before_it(database: Database, clock: ManualClock) -> None:
    server = Server(database, clock, DAYS)
    assert server.clock.now() == clock.now()
    server.run(0)
    began = clock.now()
    clock.advance(-5000 * HOUR)
    server.run(60)
    assert server.clock.now() == began + 60_000
    clock.advance(6000 * HOUR)
    assert server.clock.now() == clock.now()


def test_commands_do_not_move_it(database: Database, clock: ManualClock) -> None:
    Server(database, clock, DAYS).run(0)
    began = now(database)
    for _ in range(50):
        clock.advance(HOUR)
        Server(database, clock, DAYS).run(5)
    assert now(database) == began


def test_several_servers_advance_it_once(database: Database, clock: ManualClock) -> None:
    servers = [Server(database, clock, DAYS) for _ in range(3)]
    for server in servers:
        server.run(0)
    began = now(database)
    for _ in range(10):
        for server in servers:
            server.run(60)
    assert now(database) == began + 600_000
    servers[1].run(600)
    servers[0].run(60)
    assert now(database) == began + 1_200_000


def test_the_longest_compliance_is_recorded(database: Database, clock: ManualClock) -> None:
    for days, expected in ((7, 7), (3, 7), (9, 9)):
        Server(database, clock, STRICT._replace(minimum_days=days)).run(0)
        with database.read() as connection:
            assert read_clock(connection) == ClockRow(clock.now(), expected)
    Server(database, clock, NONE).run(0)
    with database.read() as connection:
        assert read_clock(connection) == ClockRow(clock.now(), 9)


@pytest.mark.parametrize(
    ("before", "restored", "merged"),
    [
        (None, None, None),
        (ClockRow(5, None), None, ClockRow(5, None)),
        (None, ClockRow(5, 3), ClockRow(5, 3)),
        (ClockRow(9, 2), ClockRow(5, 3), ClockRow(5, 3)),
        (ClockRow(4, 7), ClockRow(5, None), ClockRow(4, 7)),
    ],
)
def test_a_restore_keeps_the_later_end(
    database: Database,
    before: ClockRow | None,
    restored: ClockRow | None,
    merged: ClockRow | None,
) -> None:
    with database.write() as connection:
        merge_clock(connection, before)
        taken = take_clock(connection)
        assert (taken, read_clock(connection)) == (before, None)
        merge_clock(connection, restored)
        merge_clock(connection, taken)
        assert read_clock(connection) == merged
