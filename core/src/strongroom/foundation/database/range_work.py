"""Tasks that process all rows of a large table: in ranges of its keys, by any number of processes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any, Final, Protocol

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    tablesample,
    text,
)

from strongroom.foundation.database.engine import Database
from strongroom.foundation.database.key_ranges import (
    RANGES,
    KeyRange,
    KeyRanges,
    RangeBatch,
    RangeLost,
)
from strongroom.foundation.database.statements import Statement, dynamic

_SAMPLE: Final = 20_000
_POLL_SECONDS: Final = 0.5
_KEEP_SECONDS: Final = 2.0
_ESTIMATE: Final = Statement(text("SELECT reltuples FROM pg_class WHERE oid = to_regclass(:name)"))

Keep = Callable[[], None]
"""Renews the lease of the range, during a batch that may take longer than seconds."""

OnRows = Callable[[int], object]
"""Called with the number of rows processed since the last call."""


class RangeTask(Protocol):
    """A task on all rows of a table."""

    @property
    def name(self) -> str:
        """The name of the task, unique among all tasks."""

    def count(self, connection: Connection) -> int:
        """Return the approximate number of rows, which takes no time on a large table."""

    def split(self, connection: Connection) -> Sequence[str]:
        """Return the ascending keys that separate the ranges of a run."""

    def read(self, key_range: KeyRange, keep: Keep) -> RangeBatch:
        """Return the next batch of a range."""

    def finish(self, ranges: Sequence[KeyRange]) -> None:
        """Do what follows the last batch of all ranges; called again if it was interrupted."""


class RangePages:
    """The next rows of a range, by a statement that may have parameters of its own.

    Args:
        key: the column of the keys, which has an index.
        query: the rows, without order and limit.
        limit: the number of rows of a page.
        row: see :class:`Statement`.
    """

    def __init__(
        self, key: Column[Any], query: Select[Any], limit: int, row: Callable[..., Any] = tuple
    ) -> None:
        from_here = (
            query.where(key > bindparam("reached")).order_by(key).limit(literal_column(str(limit)))
        )
        self._open = Statement(from_here, row)
        self._closed = Statement(from_here.where(key <= bindparam("last")), row)

    def all(self, connection: Connection, key_range: KeyRange, **parameters: object) -> Sequence[Any]:
        """Return the next rows of a range."""
        reached = {"reached": key_range.reached or "", **parameters}
        if key_range.last is None:
            return self._open.all(connection, reached)
        return self._closed.all(connection, {**reached, "last": key_range.last})


@dataclass(slots=True, eq=False, repr=False)
class RangeWorker:
    """Processes ranges of a run until none is open.

    Args:
        stop: ends the work after the current batch.
        pause: seconds between two batches.
        is_abandoned: whether the process that has started this one is gone.
    """

    _ranges: KeyRanges
    _task: RangeTask
    _stop: Event
    _pause: float = 0.0
    _is_abandoned: Callable[[], bool] = lambda: False

    def run(self, run: str, on_batch: Callable[[], object] = lambda: None) -> bool:
        """Process ranges of a run; return whether all of them are done.

        Args:
            on_batch: called after each batch, and now and then while other processes work.
        """
        while not self._should_stop():
            key_range = self._ranges.claim(run)
            if key_range is not None:
                self._process(key_range, on_batch)
            elif self._ranges.count_open(run):
                # Another process has them, or one that was killed had them.
                self._stop.wait(_POLL_SECONDS)
                on_batch()
            else:
                return True
        return False

    def _process(self, key_range: KeyRange, on_batch: Callable[[], object]) -> None:
        try:
            while not key_range.is_done:
                batch = self._task.read(key_range, self._renewal(key_range))
                key_range = self._ranges.save(key_range, batch)
                on_batch()
                if self._should_stop():
                    break
                if self._pause:
                    self._stop.wait(self._pause)
        except RangeLost:
            return
        if not key_range.is_done:
            self._ranges.release(key_range)

    def _should_stop(self) -> bool:
        return self._stop.is_set() or self._is_abandoned()

    def _renewal(self, key_range: KeyRange) -> Keep:
        last = time.monotonic()

        def keep() -> None:
            nonlocal last
            if time.monotonic() - last > _KEEP_SECONDS:
                self._ranges.keep(key_range)
                last = time.monotonic()

        return keep


def run_at_once(database: Database, task: RangeTask, on_rows: OnRows = lambda _: None) -> int:
    """Process all rows of a task without storing the progress; return how many were found."""
    key_range = KeyRange(task.name, 0, "", 0)
    while not key_range.is_done:
        batch = task.read(key_range, lambda: None)
        with database.write(durable=False) as connection:
            hits = batch.apply(connection)
        key_range = batch.then(key_range, hits)
        on_rows(batch.rows)
    return key_range.hits


def split_keys(connection: Connection, key: Column[Any], smallest: int) -> list[str]:
    """Return keys of a table that divide its rows into about equal parts.

    Args:
        key: the primary key, of text.
        smallest: the number of rows of the smallest part.
    """
    total = count_rows(connection, key)
    count = min(RANGES, total // smallest)
    if count <= 1:
        return []
    sample = dynamic(_sampled(connection, key, total)).scalars(connection)
    bounds = (sample[number * len(sample) // count] for number in range(1, count) if sample)
    return list(dict.fromkeys(bounds))


def count_rows(connection: Connection, key: Column[Any]) -> int:
    """Return the number of rows of a table; on PostgreSQL an estimate, if there are many."""
    if connection.dialect.name == "postgresql":
        # Counting the rows would read the whole index.
        estimate = int(_ESTIMATE.scalar(connection, {"name": key.table.name}))
        if estimate > _SAMPLE:
            return estimate
    return int(dynamic(select(func.count()).select_from(key.table)).scalar(connection))


def _sampled(connection: Connection, key: Column[Any], total: int) -> Select[Any]:
    if connection.dialect.name == "postgresql" and total > 2 * _SAMPLE:
        share = tablesample(key.table, func.system(100 * _SAMPLE / total))
        return select(share.c[key.name]).order_by(share.c[key.name])
    step = max(total // _SAMPLE, 1)
    numbered = select(key, func.row_number().over(order_by=key).label("place")).subquery("numbered")
    is_sample: ColumnElement[bool] = numbered.c.place % step == 0
    return select(numbered.c[key.name]).where(is_sample).order_by(numbered.c[key.name])
