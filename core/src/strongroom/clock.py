"""Time, as a thing that is handed in, so that tests need not wait."""

import time
from datetime import UTC, datetime
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
    moment = datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def next_revision(previous: int, now: int) -> int:
    """Return the revision after ``previous``: the time, unless the clock has not moved since."""
    return max(now, previous + 1)
