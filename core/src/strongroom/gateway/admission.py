"""Admission control: assigns threads to requests, and keeps some free from slow transfers."""

import threading
from collections import deque
from enum import Enum, auto
from typing import Final, Protocol

RESERVED_THREADS: Final = 8
"""Threads that are reserved for short requests; uploads and downloads cannot use them."""

_FEW_THREADS: Final = 2 * RESERVED_THREADS
_QUEUED_PER_THREAD: Final = 4
_SHORTEST_QUEUE: Final = 256


class Job(Protocol):
    """Work that needs a thread."""

    is_transfer: bool

    def run(self) -> None:
        """Do the work, or as much of it as is possible without blocking; never raises."""


class Verdict(Enum):
    """The decision about a job."""

    RUN = auto()
    QUEUED = auto()
    REFUSED = auto()


class Admission:
    """Counts the threads in use, and queues jobs that have to wait for one.

    Args:
        threads: the maximum number of jobs that run at once.
    """

    def __init__(self, threads: int) -> None:
        # With few threads, the reserved ones would be most of them, so half are reserved instead.
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
        """Admit a new job: the caller runs it now, or it is queued, or it is refused."""
        with self._lock:
            # A transfer may take minutes, so queueing another one would only delay the 503.
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
        """Admit a transfer that continues after a wait; it is never refused."""
        with self._lock:
            if self._running < self._limit and self._transfers < self.transfers_limit:
                self._begin(job)
                return Verdict.RUN
            self._resumed.append(job)
            return Verdict.QUEUED

    def become_transfer(self, job: Job) -> bool:
        """Count a running job as a transfer; return ``False`` if the limit of transfers is reached."""
        with self._lock:
            if job.is_transfer:
                return True
            if self._transfers >= self.transfers_limit:
                return False
            job.is_transfer = True
            self._transfers += 1
            return True

    def leave(self, job: Job) -> Job | None:
        """End a job, and return the next one, which the caller must run on its thread."""
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
        # Resumed transfers go first: they hold buffers and open files.
        if self._resumed and self._transfers < self.transfers_limit:
            return self._resumed.popleft()
        # While transfers are at their limit, queued uploads move to the end of the queue, so that they
        # do not block short requests.
        for _ in range(len(self._requests)):
            job = self._requests.popleft()
            if not job.is_transfer or self._transfers < self.transfers_limit:
                return job
            self._requests.append(job)
        return None
