"""Writes what several threads want written at one moment in one transaction.

SQLite has one writer at a time, and each transaction waits for the disk. While one waits, those that
come gather behind it; the first of them then writes for all, and they wait for the disk but once.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event, Lock
from typing import Any, Final, TypeVar, cast

from sqlalchemy import Connection, text

from strongroom.database.statements import Statement

_MARK: Final = Statement(text("SAVEPOINT work"))
_RETURN: Final = Statement(text("ROLLBACK TO work"))
_FORGET: Final = Statement(text("RELEASE work"))

T = TypeVar("T")

Begin = Callable[[bool], AbstractContextManager[Connection]]
"""Opens a transaction, durable or not."""


class _Job:
    """What one thread wants written, and what became of it."""

    def __init__(self, work: Callable[[Connection], Any], durable: bool) -> None:
        self._work = work
        self.durable = durable
        self.woken = Event()
        self.is_over = False
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self, connection: Connection, *, alone: bool) -> None:
        """Do the work; what raises is void, with all of the transaction where it is nobody else's."""
        if alone:
            self._result = self._work(connection)
            return
        _MARK.change(connection, {})
        try:
            self._result = self._work(connection)
        except Exception as error:
            _RETURN.change(connection, {})
            self._error = error
        _FORGET.change(connection, {})

    def end(self, error: BaseException | None) -> None:
        """Let its thread go on; with an error, nothing of the transaction counts."""
        self._error = error or self._error
        self.is_over = True
        self.woken.set()

    def outcome(self) -> Any:
        """Return what the work returned, or raise what it raised."""
        if self._error is not None:
            raise self._error
        return self._result


class GroupCommit:
    """Gathers the work of threads, and does it in common transactions.

    Each work is done as if it were alone: one after the other, and void if it raises, whatever becomes
    of the others. A transaction that cannot be committed fails for all.

    Args:
        begin: opens a transaction.
    """

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._lock = Lock()
        self._waiting: list[_Job] = []
        self._is_led = False

    def run(self, work: Callable[[Connection], T], *, durable: bool) -> T:
        """Do the work in a transaction, in this thread or another one, and return what it returns."""
        job = _Job(work, durable)
        with self._lock:
            self._waiting.append(job)
            leads, self._is_led = not self._is_led, True
        if not leads:
            job.woken.wait()
        if not job.is_over:
            self._lead()
        return cast("T", job.outcome())

    def _lead(self) -> None:
        """Write for all who have gathered until the transaction is open; whoever comes later waits."""
        jobs: list[_Job] | None = None
        failure: BaseException | None = None
        try:
            durable = self._is_durable()
            with self._begin(durable) as connection:
                jobs = self._gathered(durable)
                for job in jobs:
                    job.run(connection, alone=len(jobs) == 1)
        except BaseException as error:
            failure = error
        # Where none could be opened, those who wait have waited as long as this one.
        jobs = self._gathered(True) if jobs is None else jobs
        self._hand_over(jobs)
        for job in jobs:
            job.end(failure)

    def _is_durable(self) -> bool:
        with self._lock:
            return any(job.durable for job in self._waiting)

    def _gathered(self, and_durable: bool) -> list[_Job]:
        with self._lock:
            return [job for job in self._waiting if and_durable or not job.durable]

    def _hand_over(self, jobs: list[_Job]) -> None:
        """Let the first lead of those who are left."""
        with self._lock:
            self._waiting = [job for job in self._waiting if job not in jobs]
            self._is_led = bool(self._waiting)
            if self._waiting:
                self._waiting[0].woken.set()
