"""Ranges of the keys of a large table, with the progress of a task that processes each of its rows.

Any number of processes process the ranges of one run. A process leases a range, and stores its progress
in the transaction of each batch, so a run that was killed or stopped continues where its last commits
were, and each row counts once.
"""

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Integer,
    String,
    Table,
    Text,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    select,
)

from strongroom.clock import DAY, Clock
from strongroom.foundation.database.changes import AdvisoryLock
from strongroom.foundation.database.engine import Database
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.metadata import Name, Timestamp, metadata
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.ids import new_id

LEASE: Final = 10_000
"""Milliseconds after which another process continues the range of one that was killed."""

RANGES: Final = 64
"""Number of ranges of a run; more processes than this gain nothing."""

key_ranges: Final = Table(
    "key_ranges",
    metadata,
    Column("task", String(64), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("run", String(36), nullable=False),
    Column("begun_at", Timestamp, nullable=False),
    Column("first", Name),
    Column("last", Name),
    Column("reached", Name),
    Column("rows", BigInteger, nullable=False),
    Column("hits", BigInteger, nullable=False),
    Column("state", Text, nullable=False),
    Column("is_done", Boolean, nullable=False),
    Column("holder", String(255)),
    Column("lease_until", Timestamp),
)


@dataclass(frozen=True, slots=True)
class KeyRange:
    """A row of :data:`key_ranges`.

    Args:
        first: the rows are after this key; ``None``: from the lowest one on.
        last: the rows are up to this key; ``None``: up to the highest one.
        reached: the last processed key; ``first`` before the first batch.
        rows: the number of processed rows.
        hits: the number of rows that the task has found or corrected.
        state: what the task keeps for its next batch.
    """

    task: str
    number: int
    run: str
    begun_at: int
    first: str | None = None
    last: str | None = None
    reached: str | None = None
    rows: int = 0
    hits: int = 0
    state: str = ""
    is_done: bool = False
    holder: str | None = None
    lease_until: int | None = None


@dataclass(frozen=True, slots=True)
class RangeBatch:
    """The next rows of a range.

    Args:
        reached: the last key; ignored if it is the last batch.
        rows: the number of rows.
        is_last: whether the range has no more rows.
        apply: changes rows in the transaction that stores the progress, and returns how many were
            found or corrected.
        state: see :class:`KeyRange`.
    """

    reached: str | None
    rows: int
    is_last: bool
    apply: Callable[[Connection], int] = lambda _: 0
    state: str = ""

    def then(self, key_range: KeyRange, hits: int) -> KeyRange:
        """Return the range after this batch."""
        return replace(
            key_range,
            reached=key_range.reached if self.is_last else self.reached,
            rows=key_range.rows + self.rows,
            hits=key_range.hits + hits,
            state=self.state,
            is_done=self.is_last,
        )


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Sums of the ranges of a run. ``begun_at`` is in milliseconds since the Unix epoch."""

    run: str
    begun_at: int
    ranges: int
    done: int
    rows: int
    hits: int

    @property
    def is_complete(self) -> bool:
        """Whether all ranges are done."""
        return self.done == self.ranges


@dataclass(frozen=True, slots=True)
class TaskRun:
    """A run that has not ended.

    Args:
        is_active: whether a process works on it; otherwise it was stopped or killed.
    """

    task: str
    progress: RunProgress
    is_active: bool


_LOCK: Final = AdvisoryLock(0x4B455952)
_ROW: Final = RowLease(
    key_ranges.c.task,
    key_ranges.c.number,
    owner=key_ranges.c.holder,
    until=key_ranges.c.lease_until,
    milliseconds=LEASE,
)
_OF_TASK: Final = key_ranges.c.task == bindparam("of_task")
_OPEN: Final = _OF_TASK & (key_ranges.c.run == bindparam("of_run")) & key_ranges.c.is_done.is_(False)
_ALL: Final = Statement(select(key_ranges).where(_OF_TASK).order_by(key_ranges.c.number), KeyRange)
_EVERY: Final = Statement(select(key_ranges).order_by(key_ranges.c.task, key_ranges.c.number), KeyRange)
_ADD: Final = Statement(insert(key_ranges))
_REMOVE: Final = Statement(delete(key_ranges).where(_OF_TASK))
_NEXT_FREE: Final = Statement(
    _ROW.claimable(key_ranges)
    .where(_OPEN, _ROW.is_free)
    # A range in progress comes first, because its end is nearer.
    .order_by(key_ranges.c.rows.desc(), key_ranges.c.number)
    .limit(literal_column("1")),
    KeyRange,
)
_COUNT_OPEN: Final = Statement(select(func.count()).where(_OPEN))
_CLAIM: Final = Statement(_ROW.claim())
_RENEW: Final = Statement(_ROW.renew())
_END: Final = Statement(_ROW.end())
_SAVE: Final = Statement(
    _ROW.renew().values(
        reached=bindparam("new_reached"),
        rows=bindparam("new_rows"),
        hits=bindparam("new_hits"),
        state=bindparam("new_state"),
        is_done=bindparam("now_done"),
    )
)


class RangeLost(Exception):
    """Another process has continued the range, because a batch took longer than the lease."""


class KeyRanges:
    """The ranges of a task, and their progress.

    Args:
        task: the name of the task, such as ``users.reindex``.
    """

    def __init__(self, database: Database, clock: Clock, task: str) -> None:
        self._database = database
        self._clock = clock
        self._task = task
        self._owner = f"{socket.gethostname()[:200]} {os.getpid()} {new_id()[-12:]}"

    def begin(
        self,
        split: Callable[[Connection], Sequence[str]],
        *,
        restart: bool = False,
        max_age: int = 30 * DAY,
    ) -> RunProgress:
        """Return the run in progress, or begin one.

        Args:
            split: returns the ascending keys that separate the ranges.
            restart: forget a run that is in progress.
            max_age: forget a run that began earlier, in milliseconds.
        """
        since = self._clock.now() - max_age
        with self._database.write() as connection:
            _LOCK.acquire(connection)
            rows = _ALL.all(connection, {"of_task": self._task})
            if restart or not rows or rows[0].begun_at < since:
                _REMOVE.execute(connection, {"of_task": self._task})
                rows = self._divide(split(connection))
                _ADD.execute(connection, [_values(row) for row in rows])
        return _sum(rows)

    def progress(self) -> RunProgress | None:
        """Return the progress of the run, or ``None`` if there is no run."""
        rows = self.all()
        return _sum(rows) if rows else None

    def all(self) -> Sequence[KeyRange]:
        """Return all ranges in the order of their keys."""
        with self._database.read() as connection:
            return _ALL.all(connection, {"of_task": self._task})

    def claim(self, run: str) -> KeyRange | None:
        """Lease a range that is not done and that no other process has; ``None`` if there is none."""
        now = _ROW.term(self._clock.now())
        of_run = {"of_task": self._task, "of_run": run}
        with self._database.write(durable=False) as connection:
            row = _NEXT_FREE.first(connection, {**of_run, **now})
            if row is None or not _CLAIM.execute(connection, {**self._names(row), **now}):
                return None
        return row

    def count_open(self, run: str) -> int:
        """Return the number of ranges that are not done."""
        with self._database.read() as connection:
            count: int = _COUNT_OPEN.scalar(connection, {"of_task": self._task, "of_run": run})
        return count

    def save(self, key_range: KeyRange, batch: RangeBatch) -> KeyRange:
        """Apply a batch, and store the progress in the same transaction; return the range after it.

        Raises:
            RangeLost: nothing was changed.
        """
        # Non-durable: after a power failure, the rows of the lost commits are processed again.
        with self._database.write(durable=False) as connection:
            # The row is locked first, so that no other process continues the range meanwhile.
            self._renew(connection, key_range)
            after = batch.then(key_range, batch.apply(connection))
            self._store(connection, after)
        return after

    def keep(self, key_range: KeyRange) -> None:
        """Renew the lease during a batch that takes long.

        Raises:
            RangeLost: another process has the range.
        """
        with self._database.write(durable=False) as connection:
            self._renew(connection, key_range)

    def release(self, key_range: KeyRange) -> None:
        """End the lease, so that another process can continue at once."""
        with self._database.write(durable=False) as connection:
            _END.execute(connection, self._names(key_range))

    def end(self) -> None:
        """Forget the run."""
        with self._database.write() as connection:
            _REMOVE.execute(connection, {"of_task": self._task})

    def _divide(self, keys: Sequence[str]) -> list[KeyRange]:
        run, now = new_id(), self._clock.now()
        return [
            KeyRange(self._task, number, run, now, first=first, last=last, reached=first)
            for number, (first, last) in enumerate(zip([None, *keys], [*keys, None], strict=True))
        ]

    def _renew(self, connection: Connection, key_range: KeyRange) -> None:
        term = _ROW.term(self._clock.now())
        if not _RENEW.execute(connection, {**self._names(key_range), **term}):
            raise RangeLost

    def _store(self, connection: Connection, after: KeyRange) -> None:
        values = {
            "new_reached": after.reached,
            "new_rows": after.rows,
            "new_hits": after.hits,
            "new_state": after.state,
            "now_done": after.is_done,
        }
        _SAVE.execute(connection, {**self._names(after), **_ROW.term(self._clock.now()), **values})

    def _names(self, row: KeyRange) -> Mapping[str, object]:
        return {"of_task": row.task, "of_number": row.number, "owner": self._owner}


def find_runs(database: Database, clock: Clock) -> list[TaskRun]:
    """Return the runs of all tasks that have not ended, by the names of the tasks."""
    now = clock.now()
    with database.read() as connection:
        rows = _EVERY.all(connection, {})
    runs = []
    for task, of_task in groupby(rows, lambda row: row.task):
        ranges = list(of_task)
        is_active = any(row.holder and (row.lease_until or 0) > now for row in ranges)
        runs.append(TaskRun(task, _sum(ranges), is_active))
    return runs


def _values(row: KeyRange) -> dict[str, Any]:
    return {name: getattr(row, name) for name in KeyRange.__slots__}


def _sum(rows: Sequence[KeyRange]) -> RunProgress:
    return RunProgress(
        rows[0].run,
        rows[0].begun_at,
        len(rows),
        sum(row.is_done for row in rows),
        sum(row.rows for row in rows),
        sum(row.hits for row in rows),
    )
