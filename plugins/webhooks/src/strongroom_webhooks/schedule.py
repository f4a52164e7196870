"""When a failed delivery is attempted again."""

import random
from collections.abc import Callable, Sequence
from typing import Final

from strongroom.plugin_api.backoff import Backoff

_JITTER: Final = 0.2
_LONGEST: Final = 24 * 60 * 60
_SECOND: Final = 1000


class Schedule:
    """The pauses before attempts.

    Args:
        uniform: returns a random number between two others.
    """

    def __init__(
        self, seconds: Sequence[int], uniform: Callable[[float, float], float] = random.uniform
    ) -> None:
        first, *others = (pause * _SECOND for pause in seconds)
        self._first = first
        self._backoff = Backoff(others, _JITTER, uniform)

    def first_pause(self) -> int:
        """Return the pause before the first attempt, in milliseconds."""
        return self._first

    def pause_after(self, attempts: int, retry_after: int | None = None) -> int | None:
        """Return the pause after failed attempts in milliseconds, or ``None`` after the last.

        Args:
            attempts: how many attempts have failed.
            retry_after: the seconds that the receiver requested; at most a day counts.
        """
        if attempts > len(self._backoff.delays):
            return None
        return self._backoff.delay(attempts, at_least=min(retry_after or 0, _LONGEST) * _SECOND)
