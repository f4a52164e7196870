"""When a failed delivery is attempted again."""

import random
from collections.abc import Callable, Sequence
from typing import Final

_JITTER: Final = 0.2
_LONGEST: Final = 24 * 60 * 60
_SECOND: Final = 1000

Uniform = Callable[[float, float], float]


class Schedule:
    """The pauses before attempts. Jitter keeps endpoints of one receiver from failing in step.

    Args:
        seconds: the pause before each attempt.
        uniform: returns a random number between two others.
    """

    def __init__(self, seconds: Sequence[int], uniform: Uniform = random.uniform) -> None:
        self._seconds = tuple(seconds)
        self._uniform = uniform

    def first_pause(self) -> int:
        """Return the pause before the first attempt, in milliseconds."""
        return self._seconds[0] * _SECOND

    def pause_after(self, attempts: int, retry_after: int | None = None) -> int | None:
        """Return the pause after failed attempts in milliseconds, or ``None`` after the last.

        Args:
            attempts: how many attempts have failed.
            retry_after: the seconds that the receiver requested; at most a day counts.
        """
        if attempts >= len(self._seconds):
            return None
        pause = self._seconds[attempts] * self._uniform(1 - _JITTER, 1 + _JITTER)
        return round(max(pause, min(retry_after or 0, _LONGEST)) * _SECOND)
