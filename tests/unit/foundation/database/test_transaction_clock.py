"""The time stands still within a transaction."""

from tests.support.timing import TickingClock

from strongroom.foundation.database import Database


def test_each_transaction_has_a_time_of_its_own(database: Database) -> None:
    clock = database.transaction_clock(TickingClock(0))
    with database.write():
        written = clock.now(), clock.now()
    with database.read():
        read = clock.now(), clock.now()
    together = [database.write_together(lambda _: (clock.now(), clock.now())) for _ in range(2)]
    assert [written, read, *together] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    assert (clock.now(), clock.now()) == (5, 6)
