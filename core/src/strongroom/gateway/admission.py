"""Decides which requests may use a thread: transfers never take all of them."""

import threading
from collections import deque
from enum import Enum, auto
from typing import Final, Protocol

RESERVED_THREADS: Final = 8
"""Threads that uploads and downloads leave free for short requests."""

_FEW_THREADS: Final = 2 * RESERVED_THREADS
_QUEUED_PER_THREAD: Final = 4
_SHORTEST_QUEUE: Final = 256


class Job(Protocol):
    """Work that needs a thread."""

    is_transfer: bool

    def run(self) -> None:
        """Do the work, or as much of it as can be done without waiting; never raises."""


class Verdict(Enum):
    """What becomes of a job."""

    RUN = auto()
    QUEUED = auto()
    REFUSED = auto()


class Admission:
    """Counts the threads in use, and queues the jobs that have to wait for one.

    Args:
        threads: how many jobs may run at once.
    """

    def __init__(self, threads: int) -> None:
        few = threads < _FEW_THREADS
        self.transfers_limit = max(1, threads // 2 if few else threads - RESERVED_THREADS)
        self._limit = max(threads, self.transfers_limit + 1)
        self._queue_limit = max(_SHORTEST_QUEUE, _QUEUED_PER_THREAD * threads)
        self._lock = threading.Lock()
        self._running = 0
        self._transfers = 0
        self._requests: deque[Job] = deque()
        self._resumed: deque[Job] = deque()

    def enter(self, job: Job) -> Verdict:
        """Take a new job: it runs now on the caller's thread, waits, or is refused."""
        with self._lock:
            if job.is_transfer and self._transfers >= self.transfers_limit:
                return Verdict.REFUSED
            if self._running < self._limit:
                self._begin(job)
                return Verdict.RUN
            if len(self._requests) >= self._queue_limit:
                return Verdict.REFUSED
            self._requests.append(job)
            return Verdict.QUEUED

    def resume(self, job: Job) -> Verdict:
        """Take a transfer that goes on; it is never refused."""
        with self._lock:
            if self._running < self._limit and self._transfers < self.transfers_limit:
                self._begin(job)
                return Verdict.RUN
            self._resumed.append(job)
            return Verdict.QUEUED

    def become_transfer(self, job: Job) -> bool:
        """Count a running job as a transfer, and return whether there was room for one."""
        with self._lock:
            if job.is_transfer:
                return True
            if self._transfers >= self.transfers_limit:
                return False
            job.is_transfer = True
            self._transfers += 1
            return True

    def leave(self, job: Job) -> Job | None:
        """End a job, and return the one that follows it on its thread."""
        with self._lock:
            self._running -= 1
            self._transfers -= job.is_transfer
            following = self._next()
            if following is not None:
                self._begin(following)
            return following

    def _begin(self, job: Job) -> None:
        self._running += 1
        self._transfers += job.is_transfer

    def _next(self) -> Job | None:
        if self._resumed and self._transfers < self.transfers_limit:
            return self._resumed.popleft()
        # A queued upload whose share was taken meanwhile goes to the end: another upload must end first.
        for _ in range(len(self._requests)):
            job = self._requests.popleft()
            if not job.is_transfer or self._transfers < self.transfers_limit:
                return job
            self._requests.append(job)
        return None
