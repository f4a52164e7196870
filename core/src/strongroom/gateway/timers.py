"""Ends what has waited too long for a client."""

import logging
import threading
import time
from typing import Final, Protocol

logger = logging.getLogger(__name__)

_LONGEST_TICK_SECONDS: Final = 1.0


class Expiring(Protocol):
    """Something that waits, up to a time."""

    def expire(self) -> None:
        """End it: its time is over."""


class Timers:
    """The deadlines of a process. Whoever claims a task first, its event or its deadline, acts on it.

    Deadlines are checked once a tick, because keeping them in order would cost every request more than
    the precision is worth.

    Args:
        tick_seconds: the time between two checks.
    """

    def __init__(self, tick_seconds: float = _LONGEST_TICK_SECONDS) -> None:
        self._tick_seconds = min(tick_seconds, _LONGEST_TICK_SECONDS)
        self._deadlines: dict[Expiring, float] = {}

    def start(self) -> None:
        """Check deadlines from now on, on a thread of this process."""
        threading.Thread(target=self._run, name="deadlines", daemon=True).start()

    def add(self, task: Expiring, seconds: float) -> None:
        """Expire a task in so many seconds, unless it is claimed before."""
        self._deadlines[task] = time.monotonic() + seconds

    def claim(self, task: Expiring) -> bool:
        """Remove a task, and return whether it was still waiting."""
        # Atomic, so that an event and a deadline never both act.
        return self._deadlines.pop(task, None) is not None

    def check(self, now: float) -> None:
        """Expire all tasks whose deadline is over."""
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
