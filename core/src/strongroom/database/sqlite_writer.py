"""Writing to SQLite, which has one writer at a time: a fair lock, and group commit.

The lock exists because SQLite itself waits for its write lock by polling with growing sleeps, while
other writers can overtake. So under load, short transactions would wait much longer than they take.

Group commit exists because each commit waits for a disk sync. Jobs that arrive during a commit queue up.
The first of them becomes the leader and runs all queued jobs in one transaction, so that they wait for
one sync together.
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from threading import Event, Lock
from typing import Any, Final, TypeVar, cast

from sqlalchemy import Connection, text

from strongroom.database.statements import Statement
from strongroom.errors import Unavailable

_SAVEPOINT: Final = Statement(text("SAVEPOINT work"))
_ROLLBACK: Final = Statement(text("ROLLBACK TO work"))
_RELEASE: Final = Statement(text("RELEASE work"))

T = TypeVar("T")

Begin = Callable[[bool], AbstractContextManager[Connection]]
"""Opens a writing transaction; the argument is whether it must be durable."""


class _Job:
    """The work of one thread, and its result or error."""

    def __init__(self, work: Callable[[Connection], Any], durable: bool) -> None:
        self._work = work
        self.durable = durable
        self.woken = Event()
        self.is_over = False
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self, connection: Connection, *, is_only: bool) -> None:
        """Run the work; if it raises, undo its changes only.

        A single job needs no savepoint, because its error rolls back the whole transaction.
        """
        if is_only:
            self._result = self._work(connection)
            return
        _SAVEPOINT.execute(connection, {})
        try:
            self._result = self._work(connection)
        # Other exceptions (an interrupt of the leader's thread) roll back the whole transaction.
        except Exception as error:
            _ROLLBACK.execute(connection, {})
            self._error = error
        # ROLLBACK TO keeps the savepoint, so it is released in both cases.
        _RELEASE.execute(connection, {})

    def end(self, error: BaseException | None) -> None:
        """Wake the thread of the job; an error means that the whole transaction was rolled back."""
        self._error = error or self._error
        self.is_over = True
        self.woken.set()

    def outcome(self) -> Any:
        """Return the result of the work, or raise its error."""
        if self._error is not None:
            raise self._error
        return self._result


class GroupCommit:
    """Runs the jobs of several threads in shared transactions.

    Jobs run one after the other. An error of one job undoes its changes and not those of the others. A
    failed commit is an error for all jobs of the transaction.

    Args:
        begin: opens a transaction.
    """

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._lock = Lock()
        self._waiting: list[_Job] = []
        # Whether some thread is the leader. The lock guards this flag and the list.
        self._is_led = False

    def run(self, work: Callable[[Connection], T], *, durable: bool) -> T:
        """Run ``work`` in a transaction, in this thread or another one, and return its result."""
        job = _Job(work, durable)
        # Appending and deciding who leads are one step: a job that is appended after the leader has
        # looked at the queue finds no leader, and leads itself.
        with self._lock:
            self._waiting.append(job)
            # Queueing and becoming the leader are one step, so no job is queued without a leader.
            leads, self._is_led = not self._is_led, True
        if not leads:
            job.woken.wait()
        # A follower wakes because a leader finished its job, or because it is the next leader.
        if not job.is_over:
            self._lead()
        return cast("T", job.outcome())

    def _lead(self) -> None:
        """Run all jobs that are queued when the transaction begins; later jobs wait for the next one."""
        jobs: list[_Job] | None = None
        failure: BaseException | None = None
        try:
            durable = self._is_durable()
            with self._begin(durable) as connection:
                # Select the jobs only now, because more arrive while the writer lock is awaited. A
                # durable job that arrived after a non-durable transaction was chosen waits.
                jobs = self._select(durable)
                for job in jobs:
                    job.run(connection, is_only=len(jobs) == 1)
        # Also KeyboardInterrupt: the followers wait without a timeout, so they must always be woken.
        except BaseException as error:
            failure = error
        # If no transaction could be opened, fail all queued jobs: they have waited about as long.
        jobs = self._select(True) if jobs is None else jobs
        # Appoint the next leader before waking the finished jobs, so that its commit starts sooner.
        self._appoint_leader(jobs)
        for job in jobs:
            job.end(failure)

    def _is_durable(self) -> bool:
        with self._lock:
            return any(job.durable for job in self._waiting)

    def _select(self, and_durable: bool) -> list[_Job]:
        with self._lock:
            return [job for job in self._waiting if and_durable or not job.durable]

    def _appoint_leader(self, jobs: list[_Job]) -> None:
        """Remove finished jobs from the queue, and make the thread of the first remaining one leader."""
        with self._lock:
            self._waiting = [job for job in self._waiting if job not in jobs]
            self._is_led = bool(self._waiting)
            if self._waiting:
                self._waiting[0].woken.set()


class WriterLock:
    """A lock of all threads of all processes that write to one database.

    It only improves speed. SQLite's own lock ensures that there is one writer at a time.

    Args:
        database: the path of the database; the lock file is next to it.
        seconds: how long a thread waits for other threads of its process.
    """

    def __init__(self, database: str, seconds: float) -> None:
        self._seconds = seconds
        self._threads = threading.Lock()
        # A separate file: closing a descriptor of the database would release SQLite's locks on it.
        self._path = f"{database}-turn"
        self._file: int | None = None

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Hold the lock until the block ends.

        Raises:
            Unavailable: other threads did not release it in time.
        """
        # Threads share one descriptor, which flock() treats as one owner, so they need a lock of their
        # own.
        if not self._threads.acquire(timeout=self._seconds):
            raise Unavailable(retry_after=1)
        try:
            # A failure to lock the file costs only speed, so the write proceeds without it.
            with suppress(OSError):
                self._lock()
            yield
        finally:
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._threads.release()

    def close(self) -> None:
        """Close the lock file; the next :meth:`acquire` opens it again."""
        with self._threads:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _lock(self) -> None:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Without a timeout: the system releases the lock of a process that dies.
        fcntl.flock(self._file, fcntl.LOCK_EX)
