"""The carriers' default limits, in sliding windows, counted when a message is submitted."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """``permits`` messages per sliding window of ``seconds``; ``level`` is its name in the error."""

    permits: int
    seconds: int
    level: str


PER_SIGNATURE_AND_NUMBER = (
    Limit(1, 60, "分钟级"),
    Limit(5, 3600, "小时级"),
    Limit(10, 86_400, "天级"),
)
PER_NUMBER = (Limit(40, 86_400, "天级"),)


class RollingLimits:
    """Counts submissions per key."""

    def __init__(self, limits: Iterable[Limit]) -> None:
        self._limits = tuple(limits)
        self._submissions: dict[Hashable, list[float]] = defaultdict(list)

    def exceeded(self, key: Hashable, now: float) -> Limit | None:
        """Return the first limit that one more submission would exceed, or None."""
        submissions = self._submissions[key]
        for limit in self._limits:
            recent = len(submissions) - bisect_right(submissions, now - limit.seconds)
            if recent >= limit.permits:
                return limit
        return None

    def record(self, key: Hashable, now: float) -> None:
        """Count a submission."""
        self._submissions[key].append(now)
