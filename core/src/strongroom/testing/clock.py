"""A clock for tests that only moves when it is advanced."""

from dataclasses import dataclass
from typing import Final

SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE


@dataclass(slots=True, eq=False, repr=False)
class ManualClock:
    """Implements :class:`strongroom.clock.Clock`. It starts in June 2026."""

    _now: int = 1_782_000_000_000

    def now(self) -> int:
        return self._now

    def advance(self, milliseconds: int) -> None:
        """Move the clock forward."""
        self._now += milliseconds
