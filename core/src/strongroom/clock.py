"""An injectable clock, so that tests need not sleep."""

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Protocol

DAY: Final = 24 * 60 * 60 * 1000
"""Milliseconds of a day."""


class Clock(Protocol):
    """Returns the current time."""

    def now(self) -> int:
        """Return the current time in milliseconds since the Unix epoch."""


class SystemClock:
    """The system clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


def iso_format(milliseconds: int) -> str:
    """Format milliseconds since the Unix epoch as ISO 8601 in UTC, with milliseconds."""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_to_the_second(seconds)}.{rest:03d}Z"


def next_revision(previous: int, now: int) -> int:
    """Return the revision after ``previous``: ``now``, or ``previous + 1`` if that is not later."""
    return max(now, previous + 1)


# The records of a page were often created within the same few seconds, and are read repeatedly.
@lru_cache(maxsize=4096)
def _to_the_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat().removesuffix("+00:00")
