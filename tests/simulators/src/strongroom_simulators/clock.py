"""The simulator's clock, which tests advance."""

import time
from collections.abc import Callable


class AdjustableClock:
    """Returns the time in seconds since the Unix epoch: that of ``base`` plus all advances."""

    def __init__(self, base: Callable[[], float] = time.time) -> None:
        self._base = base
        self._ahead = 0.0

    def __call__(self) -> float:
        return self._base() + self._ahead

    def advance(self, seconds: float) -> None:
        """Advance the clock by ``seconds``."""
        self._ahead += seconds
