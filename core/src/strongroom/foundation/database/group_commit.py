"""Group commit: the work of concurrent threads shares transactions.

Each commit waits for a disk sync, and changes of one tenant wait for each other. Jobs that arrive during
a commit queue up. The first of them becomes the leader and runs all queued jobs in one transaction, so
that they wait for one sync, and for one lock, together.

SQLite has one queue for the whole database. PostgreSQL has one for each key: work of different keys does
not wait for each other.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Event, Lock
from time import perf_counter
from typing import Any, Final, TypeVar, cast

from sqlalchemy import Connection, text

from strongroom.foundation.database.statements import Statement

_SAVEPOINT: Final = Statement(text("SAVEPOINT work"))
_ROLLBACK: Final = Statement(text("ROLLBACK TO work"))
_RELEASE: Final = Statement(text("RELEASE work"))

T = TypeVar("T")

OnWait = Callable[[float], None]
Begin = Callable[[bool], AbstractContextManager[Connection]]
"""Opens a writing transaction; the argument is whether it must be durable."""


class _Job:
    """The work of one thread, and its result or error."""

    def __init__(self, work: Callable[[Connection], Any], durable: bool) -> None:
        self._work = work
        self.durable = durable
        self.began = perf_counter()
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

    Jobs run one after the other. An error of one job undoes only its own changes. A
    failed commit is an error for all jobs of the transaction.

    Args:
        begin: opens a transaction.
        on_wait: receives the seconds that each job has waited for the jobs before it.
        at_most: number of jobs of a transaction; ``None`` is any.
    """

    def __init__(
        self, begin: Begin, on_wait: OnWait = lambda _seconds: None, at_most: int | None = None
    ) -> None:
        self._begin = begin
        self._on_wait = on_wait
        self._at_most = at_most
        self._lock = Lock()
        self._waiting: list[_Job] = []
        # Whether some thread is the leader. The lock guards this flag and the list.
        self._is_led = False

    def run(self, work: Callable[[Connection], T], *, durable: bool) -> T:
        """Run ``work`` in a transaction, in this thread or another one, and return its result."""
        job = _Job(work, durable)
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

    def waited(self) -> float:
        """Return the seconds since the oldest unfinished job came; 0 without one."""
        with self._lock:
            return perf_counter() - self._waiting[0].began if self._waiting else 0.0

    def _lead(self) -> None:
        """Run all jobs that are queued when the transaction begins; later jobs wait for the next one."""
        jobs: list[_Job] | None = None
        failure: BaseException | None = None
        try:
            durable = self._is_durable()
            with self._begin(durable) as connection:
                # Select the jobs only now, because more arrive while the writer lock is awaited. A
                # durable job that arrived after a non-durable transaction was chosen waits.
                jobs = self._select(durable)[: self._at_most]
                for job in jobs:
                    self._on_wait(perf_counter() - job.began)
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


class _Queue:
    """The queue of a key, and the number of threads in it."""

    def __init__(self, commit: GroupCommit) -> None:
        self.commit = commit
        self.threads = 0


class KeyedGroupCommit:
    """A :class:`GroupCommit` for each key that has jobs."""

    def __init__(self, make: Callable[[], GroupCommit]) -> None:
        self._make = make
        self._lock = Lock()
        self._queues: dict[str, _Queue] = {}

    def run(self, key: str, work: Callable[[Connection], T], *, durable: bool) -> T:
        """Do the same as :meth:`GroupCommit.run`, with jobs of the same key."""
        with self._lock:
            queue = self._queues.get(key)
            if queue is None:
                queue = self._queues[key] = _Queue(self._make())
            queue.threads += 1
        try:
            return queue.commit.run(work, durable=durable)
        finally:
            with self._lock:
                queue.threads -= 1
                if not queue.threads:
                    del self._queues[key]

    def waited(self, key: str) -> float:
        """Return the seconds since the oldest unfinished job of a key came; 0 without one."""
        queue = self._queues.get(key)
        return queue.commit.waited() if queue else 0.0
