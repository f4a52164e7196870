"""The simulator's time, which a test moves instead of waiting."""

import time
from collections.abc import Callable


class AdjustableClock:
    """Gives the time in seconds since the Unix epoch, ahead of ``base`` by what it was moved."""

    def __init__(self, base: Callable[[], float] = time.time) -> None:
        self._base = base
        self._ahead = 0.0

    def __call__(self) -> float:
        return self._base() + self._ahead

    def advance(self, seconds: float) -> None:
        """Move on by ``seconds``."""
        self._ahead += seconds
