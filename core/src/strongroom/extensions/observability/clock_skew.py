"""Compares the clock of this instance with the database's, and with the newest audit record."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select

from strongroom.activity.audit.models import audit_events
from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.upgrade import current_revision

DATABASE: Final = "database"
NEWEST_RECORD: Final = "newest_record"

_TIME: Final = Statement(select(func.clock_timestamp()))
_NEWEST_RECORD: Final = Statement(select(func.max(audit_events.c.at)))


@dataclass(slots=True, eq=False, repr=False)
class ClockSkew:
    """Measures by how much the local clock differs from others."""

    _database: Database
    _clock: Clock

    def milliseconds(self) -> dict[str, int]:
        """Return how far the local clock is ahead of each of the others; negative if it is behind."""
        skews = dict[str, int]()
        if self._database.engine.dialect.name == "postgresql":
            skews[DATABASE] = self.ahead_of_database()
        if current_revision(self._database.engine) is not None:
            skews[NEWEST_RECORD] = self._ahead_of_newest_record()
        return skews

    def ahead_of_database(self) -> int:
        """Return how far the local clock is ahead of the database's; 0 on SQLite, which has none."""
        if self._database.engine.dialect.name == "sqlite":
            return 0
        with self._database.read() as connection:
            moment = _TIME.scalar(connection)
            return self._clock.now() - int(moment.timestamp() * 1000)

    def _ahead_of_newest_record(self) -> int:
        with self._database.read() as connection:
            newest: int | None = _NEWEST_RECORD.scalar(connection)
            # The newest record may be arbitrarily old, but not from the future.
            return 0 if newest is None else min(self._clock.now() - newest, 0)
