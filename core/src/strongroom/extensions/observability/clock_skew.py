"""Compares the clock of this instance with the database's, and with the newest audit record."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from strongroom.activity.audit.models import audit_events
from strongroom.clock import Clock
from strongroom.extensions.observability.families import Family, Sample
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.upgrade import current_revision
from strongroom.foundation.errors import StrongroomError

CLOCK_SKEW: Final = Family(
    "strongroom_clock_skew_seconds",
    "Seconds that the instance's clock is ahead of another, negative if behind: PostgreSQL's, or the "
    "newest audit record, which only shows a clock that is behind.",
    ("clock",),
)

DATABASE: Final = "database"
NEWEST_RECORD: Final = "newest_record"

_TIME: Final = Statement(select(func.clock_timestamp()))
_NEWEST_RECORD: Final = Statement(select(func.max(audit_events.c.at)))


@dataclass(slots=True, eq=False, repr=False)
class ClockSkew:
    """Measures by how much the local clock differs from others."""

    _database: Database
    _clock: Clock

    def __call__(self) -> Iterator[tuple[Family, list[Sample]]]:
        """Yield the metric; without values while the database is unavailable."""
        try:
            skews = self.milliseconds()
        except (StrongroomError, SQLAlchemyError):
            return
        yield CLOCK_SKEW, [((name,), skew / 1000) for name, skew in skews.items()]

    def milliseconds(self) -> dict[str, int]:
        """Return how far the local clock is ahead of each of the others; negative if it is behind."""
        skews = dict[str, int]()
        if self._database.engine.dialect.name == "postgresql":
            skews[DATABASE] = self._ahead_of_database()
        if current_revision(self._database.engine) is not None:
            skews[NEWEST_RECORD] = self._ahead_of_newest_record()
        return skews

    def _ahead_of_database(self) -> int:
        with self._database.read() as connection:
            moment = _TIME.scalar(connection)
            return self._clock.now() - int(moment.timestamp() * 1000)

    def _ahead_of_newest_record(self) -> int:
        with self._database.read() as connection:
            newest: int | None = _NEWEST_RECORD.scalar(connection)
            # The newest record may be arbitrarily old, but not from the future.
            return 0 if newest is None else min(self._clock.now() - newest, 0)
