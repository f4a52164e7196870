"""The minimum transfer rate, and timeouts of requests that wait for their client."""

import logging
import threading
import time
from dataclasses import dataclass
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
