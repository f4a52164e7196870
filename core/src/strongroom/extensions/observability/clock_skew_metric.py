"""The metric of how far the clock of an instance differs from others."""

from collections.abc import Iterator
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from strongroom.extensions.observability.clock_skew import ClockSkew
from strongroom.extensions.observability.families import Family, Sample
from strongroom.foundation.errors import StrongroomError

CLOCK_SKEW: Final = Family(
    "strongroom_clock_skew_seconds",
    "Seconds that the instance's clock is ahead of another, negative if behind: PostgreSQL's, or the "
    "newest audit record, which only shows a clock that is behind.",
    ("clock",),
)


class ClockSkewMetric(ClockSkew):
    """Measures as :class:`ClockSkew`, for scrapes."""

    def __call__(self) -> Iterator[tuple[Family, list[Sample]]]:
        """Yield the metric; without values while the database is unavailable."""
        try:
            skews = self.milliseconds()
        except (StrongroomError, SQLAlchemyError):
            return
        yield CLOCK_SKEW, [((name,), skew / 1000) for name, skew in skews.items()]
