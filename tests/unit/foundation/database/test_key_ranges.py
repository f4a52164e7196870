"""Each row of a table counts once, whatever processes are stopped, killed or too slow."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from random import Random
from threading import Event, Thread

import pytest
from bench.people import plant
from sqlalchemy import Connection, select, text
from tests.support.api import Api
from tests.support.campaign import campaign_size

from strongroom.foundation.database import Database
from strongroom.foundation.database.key_ranges import (
    LEASE,
    KeyRange,
    KeyRanges,
    RangeBatch,
    RangeLost,
    find_runs,
)
from strongroom.foundation.database.range_work import (
    Keep,
    RangePages,
    RangeWorker,
    run_at_once,
    split_keys,
)
from strongroom.identity.users.models import users
from strongroom.testing.clock import ManualClock

pytestmark = pytest.mark.both_databases

USERS = 300
AT_ONCE = 7
KILLS = campaign_size("RANGE_KILLS", 12)
PAGES = RangePages(users.c.id, select(users.c.id), AT_ONCE)


class Killed(BaseException):
    """The process ends at once."""


class Task:
    """Adds one to the revision of each user; found are the users with an even number.

    Args:
        fail: called before each step of the task, which it may end with an exception.
    """

    name = "test.count"

    def __init__(self, database: Database, fail: Iterator[bool] | None = None) -> None:
        self.database = database
        self._fail = fail or iter(())

    def split(self, connection: Connection) -> Sequence[str]:
        return split_keys(connection, users.c.id, USERS // 6)

    def count(self, connection: Connection) -> int:
        return USERS

    def read(self, key_range: KeyRange, _keep: Keep) -> RangeBatch:
        self._may_fail()
        with self.database.read() as connection:
            keys = [row[0] for row in PAGES.all(connection, key_range)]
        is_last = len(keys) < AT_ONCE
        return RangeBatch(
            None if is_last else keys[-1],
            len(keys),
            is_last,
            lambda connection: self._apply(connection, keys),
        )

    def finish(self, ranges: Sequence[KeyRange]) -> None:
        """Nothing follows."""

    def _apply(self, connection: Connection, keys: Sequence[str]) -> int:
        self._may_fail()
        for key in keys:
            change = text("UPDATE users SET revision = revision + 1 WHERE id = :key")
            connection.execute(change, {"key": key})
        self._may_fail()
        return sum(int(key[-1]) % 2 == 0 for key in keys)

    def _may_fail(self) -> None:
        if next(self._fail, False):
            raise Killed


def revisions(database: Database) -> list[int]:
    with database.read() as connection:
        return [row[0] for row in connection.execute(text("SELECT revision FROM users"))]


@pytest.fixture
def planted(api: Api) -> Api:
    plant(api.container, USERS)
    return api


def test_a_run_that_is_killed_again_and_again_processes_each_row_once(planted: Api) -> None:
    database, clock = planted.container.database, ManualClock()
    before, random = sum(revisions(database)), Random(5)
    for kill in range(KILLS + 1):
        ranges = KeyRanges(database, clock, Task.name)
        fail = iter([False] * random.randrange(20) + [True]) if kill < KILLS else iter(())
        task = Task(database, fail)
        current = ranges.begin(task.split)
        assert current.ranges == 6
        with suppress(Killed):
            assert RangeWorker(ranges, task, Event()).run(current.run)
        # The next process waits until the lease of a killed one has ended.
        clock.advance(LEASE)
    progress = ranges.progress()
    assert progress is not None
    assert (progress.is_complete, progress.rows, progress.hits) == (True, USERS, USERS // 2)
    assert sum(revisions(database)) == before + USERS
    assert all(key_range.rows for key_range in ranges.all())
    ranges.end()
    assert ranges.progress() is None


def test_several_processes_share_the_ranges(planted: Api) -> None:
    database, clock, workers = planted.container.database, planted.clock, 3
    before = sum(revisions(database))
    task = Task(database)
    current = KeyRanges(database, clock, task.name).begin(task.split)

    def work() -> None:
        ranges = KeyRanges(database, clock, task.name)
        assert RangeWorker(ranges, task, Event(), 0.001).run(current.run)

    threads = [Thread(target=work) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    holders = {key_range.holder for key_range in KeyRanges(database, clock, task.name).all()}
    assert len(holders) > 1
    assert sum(revisions(database)) == before + USERS


def test_a_process_whose_lease_has_ended_changes_nothing(planted: Api) -> None:
    database, clock = planted.container.database, ManualClock()
    task = Task(database)
    slow, other = (KeyRanges(database, clock, task.name) for _ in range(2))
    run = slow.begin(task.split).run
    key_range = slow.claim(run)
    assert key_range is not None
    batch = task.read(key_range, lambda: None)
    clock.advance(LEASE)
    claimed = other.claim(run)
    assert claimed is not None
    assert claimed.number == key_range.number
    before = revisions(database)
    for refused in (lambda: slow.save(key_range, batch), lambda: slow.keep(key_range)):
        with pytest.raises(RangeLost):
            refused()
    assert revisions(database) == before
    # A process that stops ends its lease.
    other.release(claimed)
    again = slow.claim(run)
    assert again is not None
    assert again.number == key_range.number


def test_a_stopped_run_is_continued_and_a_restarted_one_begins_again(planted: Api) -> None:
    database, clock, stop = planted.container.database, planted.clock, Event()
    task, ranges = Task(database), KeyRanges(database, planted.clock, Task.name)
    current = ranges.begin(task.split)
    assert not RangeWorker(ranges, task, stop).run(current.run, stop.set)
    other = KeyRanges(database, clock, task.name)
    continued = other.begin(task.split)
    assert (continued.run, continued.rows) == (current.run, AT_ONCE)
    assert other.begin(task.split, restart=True).rows == 0
    # Workers of the former run end.
    assert RangeWorker(ranges, task, Event()).run(current.run)
    assert ranges.progress() == other.progress()


def test_a_run_at_once_stores_no_progress(planted: Api) -> None:
    database, counts = planted.container.database, list[int]()
    assert run_at_once(database, Task(database), counts.append) == USERS // 2
    assert sum(counts) == USERS
    assert KeyRanges(database, planted.clock, Task.name).progress() is None


def test_runs_are_listed_until_they_end(planted: Api) -> None:
    database, clock = planted.container.database, ManualClock()
    assert find_runs(database, clock) == []
    ranges, task = KeyRanges(database, clock, Task.name), Task(database)
    begun = ranges.begin(task.split)
    other = KeyRanges(database, clock, "test.other")
    other.begin(lambda _: ())
    key_range = ranges.claim(begun.run)
    assert key_range is not None
    ranges.save(key_range, task.read(key_range, lambda: None))
    first, second = find_runs(database, clock)
    assert (first.task, second.task) == (Task.name, "test.other")
    assert (first.progress, second.progress) == (ranges.progress(), other.progress())
    assert first.progress.rows == AT_ONCE
    assert (first.is_active, second.is_active) == (True, False)
    # The process was killed.
    clock.advance(LEASE)
    assert not find_runs(database, clock)[0].is_active
    ranges.end()
    other.end()
    assert find_runs(database, clock) == []
