"""The pace of batches that change many rows: pauses, progress, and an early end.

Commands and jobs set it for the deletions and back-fills that they start.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final


class BatchesStopped(Exception):
    """The batches were stopped before the last one; another run does the rest."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How batches follow each other.

    Args:
        pause: seconds between two batches.
        should_stop: whether no further batch may follow; the next run does the rest.
        on_rows: called with the number of rows of each batch.
    """

    pause: float = 0.0
    should_stop: Callable[[], bool] = lambda: False
    on_rows: Callable[[int], object] = lambda _: None

    def allows_next(self, count: int) -> bool:
        """Report a batch, and return after the pause whether another one may follow."""
        self.on_rows(count)
        if self.should_stop():
            return False
        if self.pause:
            time.sleep(self.pause)
        return True

    def require_next(self, count: int) -> None:
        """Do as :meth:`allows_next`.

        Raises:
            BatchesStopped: no further batch may follow.
        """
        if not self.allows_next(count):
            raise BatchesStopped


_PACE: Final[ContextVar[Pace]] = ContextVar("pace", default=Pace())  # noqa: B039  it is frozen
current_pace: Final = _PACE.get
"""Returns the pace of this thread."""


@contextmanager
def paced(pace: Pace) -> Iterator[None]:
    """Give the batches of the block a pace."""
    token = _PACE.set(pace)
    try:
        yield
    finally:
        _PACE.reset(token)
