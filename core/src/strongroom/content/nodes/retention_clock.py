"""The clock that ends retention: it cannot be moved by setting the clock of a machine."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from sqlalchemy import Connection, bindparam, case, delete, insert, select, update

from strongroom.clock import Clock
from strongroom.content.nodes.retention_models import RetentionMode, RetentionSettings, retention_clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.installation import require_code
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import StrongroomError

logger = logging.getLogger(__name__)

_ROW: Final = 1
_OBEYED_SINCE: Final = "0025"
"""The schema revision of the oldest code that enforces holds and retention."""

_NOW: Final = retention_clock.c.now
_DAYS: Final = retention_clock.c.compliance_days
_READ: Final = Statement(select(_NOW, _DAYS).where(retention_clock.c.id == _ROW))
_START: Final = Statement(
    for_each_dialect(retention_clock, lambda insert: insert.on_conflict_do_nothing())
)
# The greatest of both, so that processes whose readings cross never set the clock back.
_ADVANCE: Final = Statement(
    update(retention_clock)
    .where(retention_clock.c.id == _ROW)
    .values(now=greatest(_NOW, bindparam("reached", type_=_NOW.type)))
)
_RAISE: Final = Statement(
    update(retention_clock)
    .where(retention_clock.c.id == _ROW)
    .values(
        compliance_days=case(
            (bindparam("days") < _DAYS, _DAYS), else_=bindparam("days", type_=_DAYS.type)
        )
    )
)
_REMOVE: Final = Statement(delete(retention_clock))
_PUT: Final = Statement(insert(retention_clock))


@dataclass(frozen=True, slots=True)
class ClockRow:
    """The row of :data:`retention_clock`."""

    now: int
    compliance_days: int | None


class RetentionClock:
    """Advances by the time that servers run, as their monotonic clocks measure it.

    Retention must not end because the clock of a machine is set forward, and a program cannot
    distinguish that from a long pause. So the wall clock is read once, at the first start. From then on,
    the row in the database only advances, never faster than the monotonic clock of a running process. It
    falls behind while no server runs, so retention ends later, never sooner.

    Args:
        monotonic: returns seconds that only elapse.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        settings: RetentionSettings,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._clock = clock
        self._settings = settings
        self._monotonic = monotonic
        self._lock = Lock()
        # The first reading of this process: the row and the monotonic clock.
        self._anchor: tuple[int, float] | None = None

    @property
    def _is_configured(self) -> bool:
        is_compliance = self._settings.mode is RetentionMode.COMPLIANCE
        return is_compliance or self._settings.minimum_days > 0

    def now(self) -> int:
        """Return the time of changes of files: this machine's, but never before this clock's.

        Otherwise a file that is written while the clock of the machine is set back would count as old,
        and could be removed at once.
        """
        return max(self._clock.now(), self._elapsed() or 0)

    def _elapsed(self) -> int | None:
        if self._anchor is None:
            return None
        started_at, began = self._anchor
        return started_at + int((self._monotonic() - began) * 1000)

    def start(self, connection: Connection) -> None:
        """Start the clock with the time of this machine, unless it was started before."""
        row = {"id": _ROW, "now": self._clock.now(), "compliance_days": None}
        # From the first hold or retention on, an older version of the code must not serve this
        # database: it would remove content that must be kept.
        if _START.execute(connection, row):
            require_code(connection, _OBEYED_SINCE)

    def begin(self) -> None:
        """Advance the clock at the start of a server, unless the database refuses it.

        A worker that starts during an outage must serve, because the server ends when its workers fail.
        Until the recurring job advances the clock, the settings of this process apply.
        """
        try:
            self.tick()
        except StrongroomError as error:
            logger.warning("The retention clock starts later: %s", error)

    def tick(self) -> None:
        """Advance the clock by the time since this process first called this method."""
        # Installations without holds and retention never write a row.
        with self._database.read() as connection:
            if read_clock(connection) is None and not self._is_configured:
                return
        # Non-durable: a tick that is lost in a power failure only makes retention end later.
        with self._database.write(durable=False) as connection:
            self.start(connection)
            _ADVANCE.execute(connection, {"reached": self._reached(connection)})
            if self._settings.mode is RetentionMode.COMPLIANCE:
                _RAISE.execute(connection, {"days": self._settings.minimum_days})

    def _reached(self, connection: Connection) -> int:
        # Several threads may tick at first; all of them must measure from one reading.
        with self._lock:
            if self._anchor is None:
                row = read_clock(connection)
                self._anchor = (row.now if row else 0, self._monotonic())
            return self._elapsed() or 0


def read_clock(connection: Connection) -> ClockRow | None:
    """Return the row of the clock, or ``None`` if it was never started."""
    row = _READ.first(connection)
    return ClockRow(*row) if row else None


def take_clock(connection: Connection) -> ClockRow | None:
    """Remove the row of the clock and return it, before the rows of a backup are inserted."""
    row = read_clock(connection)
    _REMOVE.execute(connection)
    return row


def merge_clock(connection: Connection, before: ClockRow | None) -> None:
    """Combine the row of a backup with the one that :func:`take_clock` returned: the later end counts.

    So a restore ends no retention, whichever of both demanded it.
    """
    restored = take_clock(connection)
    rows = [row for row in (before, restored) if row is not None]
    if rows:
        require_code(connection, _OBEYED_SINCE)
        days = [row.compliance_days for row in rows if row.compliance_days is not None]
        # The earlier time: retention is measured against it, so an earlier clock ends it later.
        values: dict[str, Any] = {"id": _ROW, "now": min(row.now for row in rows)}
        _PUT.execute(connection, {**values, "compliance_days": max(days, default=None)})
