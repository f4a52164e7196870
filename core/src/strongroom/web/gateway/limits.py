"""Limits: threads for transfers, the minimum transfer rate, and timeouts of slow requests."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final, Protocol


@dataclass(frozen=True, slots=True)
class TransferRate:
    """The minimum transfer rate of a client.

    Args:
        grace_seconds: the longest pause, at the start or after keeping up the rate.
        bytes_per_second: the minimum rate beyond that.
    """

    grace_seconds: float = 10.0
    bytes_per_second: int = 1024

    def seconds_for(self, size: int) -> float:
        """Return the maximum duration of a transfer of ``size`` bytes."""
        return self.grace_seconds + size / self.bytes_per_second


UNLIMITED: Final = float("inf")


class Patience:
    """A token bucket of the seconds for which one transfer may still wait for its client.

    Waiting consumes seconds, and transferred bytes refill them up to the grace period. Time that the
    server itself takes, for example to store bytes, does not count. The bucket is bounded: even after a
    fast transfer, a client may pause no longer than at the start.
    """

    __slots__ = ("_rate", "seconds")

    def __init__(self, rate: TransferRate) -> None:
        self._rate = rate
        self.seconds = rate.grace_seconds

    def spend(self, waited: float, transferred: int) -> None:
        """Consume ``waited`` seconds, and refill for ``transferred`` bytes."""
        earned = transferred / self._rate.bytes_per_second
        self.seconds = min(self._rate.grace_seconds, self.seconds - waited + earned)


logger = logging.getLogger(__name__)

_LONGEST_TICK_SECONDS: Final = 1.0


class Expiring(Protocol):
    """A task with a deadline."""

    def expire(self) -> None:
        """End the task, because its deadline has passed."""


class Timers:
    """The deadlines of a process. Either the event or the deadline of a task claims it, never both.

    Deadlines are checked once per tick, because sorting them would cost every request more than the
    precision is worth.

    Args:
        tick_seconds: the time between two checks; at most one second.
    """

    def __init__(self, tick_seconds: float = _LONGEST_TICK_SECONDS) -> None:
        self._tick_seconds = min(tick_seconds, _LONGEST_TICK_SECONDS)
        self._deadlines: dict[Expiring, float] = {}

    def start(self) -> None:
        """Start the thread that checks deadlines."""
        threading.Thread(target=self._run, name="deadlines", daemon=True).start()

    def add(self, task: Expiring, seconds: float) -> None:
        """Expire a task after ``seconds``, unless it is claimed before."""
        self._deadlines[task] = time.monotonic() + seconds

    def claim(self, task: Expiring) -> bool:
        """Remove a task, and return whether it was still waiting."""
        # dict.pop is atomic, so only one of two concurrent claims succeeds.
        return self._deadlines.pop(task, None) is not None

    def check(self, now: float) -> None:
        """Expire all tasks whose deadline has passed."""
        # A copy, because other threads add and claim tasks during the iteration.
        due = [task for task, deadline in self._deadlines.copy().items() if deadline <= now]
        for task in due:
            if self.claim(task):
                try:
                    task.expire()
                except Exception:
                    logger.exception("A deadline could not be enforced")

    def _run(self) -> None:
        while True:
            time.sleep(self._tick_seconds)
            self.check(time.monotonic())


RESERVED_THREADS: Final = 8
"""Threads that are reserved for short requests; uploads and downloads cannot use them."""

_FEW_THREADS: Final = 2 * RESERVED_THREADS
_QUEUED_PER_THREAD: Final = 4
_SHORTEST_QUEUE: Final = 256


class ThreadTask(Protocol):
    """Work that needs a thread."""

    is_transfer: bool
    is_uncounted: bool
    queued_at: float

    def run(self) -> None:
        """Do the work, or as much of it as is possible without blocking; never raises."""


class AdmissionResult(Enum):
    """The decision about a job."""

    RUN = auto()
    QUEUED = auto()
    REFUSED = auto()


class Admission:
    """Counts the threads in use, and queues jobs that have to wait for one.

    Args:
        threads: the maximum number of jobs that run concurrently.
        on_wait: receives ``requests`` or ``transfers``, and the seconds that a job was queued.
    """

    def __init__(
        self, threads: int, on_wait: Callable[[str, float], None] = lambda _queue, _seconds: None
    ) -> None:
        self._on_wait = on_wait
        # With few threads, the reserved ones would be most of them, so half are reserved instead.
        few = threads < _FEW_THREADS
        self.transfers_limit = max(1, threads // 2 if few else threads - RESERVED_THREADS)
        # At least one thread remains for short requests, even if only one is configured.
        self._limit = max(threads, self.transfers_limit + 1)
        self._queue_limit = max(_SHORTEST_QUEUE, _QUEUED_PER_THREAD * threads)
        self._lock = threading.Lock()
        self._running = 0
        self._transfers = 0
        self._requests: deque[ThreadTask] = deque()
        self._resumed: deque[ThreadTask] = deque()

    def enter(self, job: ThreadTask) -> AdmissionResult:
        """Accept a new job: the caller runs it now, or it is queued, or it is refused."""
        with self._lock:
            # A transfer may take minutes, so queueing another one would only delay the 503.
            if job.is_transfer and self._transfers >= self.transfers_limit:
                return AdmissionResult.REFUSED
            if self._running < self._limit:
                self._begin(job)
                return AdmissionResult.RUN
            if len(self._requests) >= self._queue_limit:
                return AdmissionResult.REFUSED
            job.queued_at = time.monotonic()
            self._requests.append(job)
            return AdmissionResult.QUEUED

    def resume(self, job: ThreadTask) -> AdmissionResult:
        """Accept a transfer that continues after a wait; it is never refused."""
        with self._lock:
            if self._running < self._limit and self._transfers < self.transfers_limit:
                self._begin(job)
                return AdmissionResult.RUN
            # The response has already begun, so a refusal with 503 is no longer possible.
            job.queued_at = time.monotonic()
            self._resumed.append(job)
            return AdmissionResult.QUEUED

    def become_transfer(self, job: ThreadTask) -> bool:
        """Count a running job as a transfer; return ``False`` if the limit of transfers is reached."""
        with self._lock:
            if job.is_transfer or job.is_uncounted:
                return True
            if self._transfers >= self.transfers_limit:
                return False
            job.is_transfer = True
            self._transfers += 1
            return True

    def release_slot(self, job: ThreadTask) -> ThreadTask | None:
        """Stop counting a running job; return the next job, as :meth:`leave` does.

        For requests that wait for events. The feature that lets them wait limits their number, and the
        pool has a thread for each of them.
        """
        following = self.leave(job)
        job.is_uncounted = True
        return following

    def leave(self, job: ThreadTask) -> ThreadTask | None:
        """End a job, and return the next one, which the caller must run on its thread."""
        if job.is_uncounted:
            return None
        with self._lock:
            # The thread is released and assigned under one lock, so that no new request overtakes the
            # queue.
            self._running -= 1
            self._transfers -= job.is_transfer
            following = self._next()
            if following is not None:
                self._begin(following)
        if following is not None:
            queue = "transfers" if following.is_transfer else "requests"
            self._on_wait(queue, time.monotonic() - following.queued_at)
        return following

    def _begin(self, job: ThreadTask) -> None:
        self._running += 1
        self._transfers += job.is_transfer

    def _next(self) -> ThreadTask | None:
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
