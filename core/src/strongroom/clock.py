"""Time, as a thing that is handed in, so that tests need not wait."""

import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> int:
        """Return the milliseconds since the Unix epoch."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


def iso_format(milliseconds: int) -> str:
    """Return a point in time as ISO 8601 in UTC, to the millisecond."""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_to_the_second(seconds)}.{rest:03d}Z"


def next_revision(previous: int, now: int) -> int:
    """Return the revision after ``previous``: the time, unless the clock has not moved since."""
    return max(now, previous + 1)


# What is on one page was often made in the same few seconds, and is asked for again and again.
@lru_cache(maxsize=4096)
def _to_the_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat().removesuffix("+00:00")
