"""Deadlines of tasks that wait for a client."""

import logging
import threading
import time
from typing import Final, Protocol

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
