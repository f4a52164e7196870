"""Positions of event sinks: claims, so that one process delivers a stream, and dead letters."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, select, update

from strongroom.activity.events.models import (
    DEAD_LETTER,
    DeadLetter,
    Position,
    event_dead_letters,
    event_positions,
)
from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.ids import new_id

LEASE: Final = 30_000
"""Milliseconds after which another process may deliver a claimed stream."""

# The stream of the row that records that a sink exists; no event has it.
_MARKER: Final = ""
_CHUNK: Final = 500

_OF_SINK: Final = event_positions.c.sink == bindparam("of_sink")
_OF_STREAMS: Final = _OF_SINK & event_positions.c.stream.in_(bindparam("streams", expanding=True))
_ROW: Final = RowLease(
    event_positions.c.sink,
    event_positions.c.stream,
    owner=event_positions.c.claim,
    until=event_positions.c.claimed_until,
    milliseconds=LEASE,
)

_COLUMNS: Final = (
    event_positions.c.sink,
    event_positions.c.stream,
    event_positions.c.position,
    event_positions.c.failures,
)

_ADD: Final = Statement(
    for_each_dialect(event_positions, lambda insert: insert.on_conflict_do_nothing())
)


_CLAIM: Final = Statement(
    update(event_positions)
    .where(
        _OF_SINK,
        event_positions.c.stream.in_(
            _ROW.claimable(event_positions.c.stream).where(
                _OF_STREAMS, _ROW.is_free, event_positions.c.retry_at <= bindparam("now")
            )
        ),
    )
    .values(_ROW.claimed)
    .returning(*_COLUMNS),
    Position,
)
_CLAIMED: Final = Statement(select(event_positions.c.stream).where(_OF_STREAMS, _ROW.is_running))
_SAVED: Final[Mapping[str, Any]] = {
    "position": bindparam("new_position"),
    "failures": bindparam("new_failures"),
    "retry_at": bindparam("new_retry_at"),
}
_SAVE: Final = Statement(_ROW.renew().values(_SAVED))
_SAVE_AND_END: Final = Statement(_ROW.end().values(_SAVED))
_MOVE: Final = Statement(
    update(event_positions)
    .where(_ROW.is_row)
    .values(position=bindparam("new_position"), failures=0, retry_at=0)
    # A process that is delivering loses its claim, and so cannot overwrite the position.
    .values(_ROW.freed)
)
_POSITIONS: Final = Statement(
    select(event_positions.c.stream, event_positions.c.position).where(_OF_STREAMS)
)
_DUE: Final = Statement(
    select(event_positions.c.stream).where(
        _OF_SINK,
        event_positions.c.failures > 0,
        event_positions.c.retry_at <= bindparam("now"),
    )
)
_SINKS: Final = Statement(
    select(event_positions.c.sink)
    .where(event_positions.c.stream == _MARKER)
    .order_by(event_positions.c.sink)
)
_FAILING: Final = Statement(select(*_COLUMNS).where(event_positions.c.failures > 0), Position)
_BURY: Final = Statement(
    for_each_dialect(event_dead_letters, lambda insert: insert.on_conflict_do_nothing())
)
_DEAD: Final = Statement(
    select(event_dead_letters).order_by(event_dead_letters.c.failed_at), DEAD_LETTER
)
_FORGET_DEAD: Final = Statement(
    delete(event_dead_letters).where(event_dead_letters.c.failed_at < bindparam("before"))
)
_FORGET_POSITIONS: Final = Statement(
    delete(event_positions).where(event_positions.c.stream == bindparam("of_stream"))
)
_FORGET_DEAD_OF: Final = Statement(
    delete(event_dead_letters).where(event_dead_letters.c.stream == bindparam("of_stream"))
)


class Positions:
    """The positions of all sinks, and the events that they did not accept.

    No change is durable: after a power failure, events are delivered again.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._owner = new_id()

    def add(self, connection: Connection, sink: str) -> bool:
        """Add a sink; return ``False`` if it exists. A concurrent process waits for the transaction."""
        return _ADD.execute(connection, _row(sink, _MARKER, 0)) == 1

    def start_at(self, connection: Connection, sink: str, heads: Mapping[str, int]) -> None:
        """Set the positions of a new sink to the given ends of streams."""
        rows = iter([_row(sink, stream, head) for stream, head in heads.items()])
        while chunk := list(islice(rows, _CHUNK)):
            _ADD.execute(connection, chunk)

    def behind(self, connection: Connection, sink: str, heads: Mapping[str, int]) -> set[str]:
        """Return the streams that the sink has not received up to the given sequences."""
        positions: dict[str, int] = {}
        streams = list(heads)
        for start in range(0, len(streams), _CHUNK):
            parameters = {"of_sink": sink, "streams": streams[start : start + _CHUNK]}
            positions.update(_POSITIONS.all(connection, parameters))
        return {stream for stream, head in heads.items() if positions.get(stream, 0) < head}

    def due(self, connection: Connection, sink: str) -> set[str]:
        """Return the streams whose delivery has failed and is to be attempted again."""
        return set(_DUE.scalars(connection, {"of_sink": sink, "now": self._clock.now()}))

    def claim(self, sink: str, streams: Sequence[str]) -> tuple[list[Position], set[str]]:
        """Claim streams whose next attempt is due; also return those that another process has claimed.

        Args:
            streams: the streams, in an order that all processes use.
        """
        term = _ROW.term(self._clock.now())
        parameters = {"of_sink": sink, "streams": streams, "owner": self._owner, **term}
        with self._database.write(durable=False) as connection:
            # Rows of new streams first, because only an existing row can be claimed.
            _ADD.execute(connection, [_row(sink, stream, 0) for stream in streams])
            claimed = _CLAIM.all(connection, parameters)
            if len(claimed) == len(streams):
                return claimed, set()
            all_claimed = set(_CLAIMED.scalars(connection, parameters))
        return claimed, all_claimed - {position.stream for position in claimed}

    def save(
        self,
        position: Position,
        *,
        retry_in: int = 0,
        dead: DeadLetter | None = None,
        release: bool,
    ) -> bool:
        """Store a claimed position; return ``False`` if the claim was lost.

        Args:
            position: the new position and number of failures.
            retry_in: milliseconds until the next attempt.
            dead: an event that was given up, which the position has passed.
            release: whether the claim ends.
        """
        now = self._clock.now()
        changes = {
            "of_sink": position.sink,
            "of_stream": position.stream,
            "owner": self._owner,
            "new_position": position.position,
            "new_failures": position.failures,
            "new_retry_at": now + retry_in if retry_in else 0,
            **_ROW.term(now),
        }
        with self._database.write(durable=False) as connection:
            # One transaction: an event that was given up must be both in the dead letters and passed.
            is_owned = (_SAVE_AND_END if release else _SAVE).execute(connection, changes) == 1
            if is_owned and dead is not None:
                _BURY.execute(connection, DEAD_LETTER.values(dead))
        return is_owned

    def move(self, sink: str, stream: str, position: int) -> None:
        """Set the position of a sink, so that it receives the events after it."""
        with self._database.write() as connection:
            _ADD.execute(connection, _row(sink, stream, 0))
            _MOVE.execute(connection, {"of_sink": sink, "of_stream": stream, "new_position": position})

    def forget(self, stream: str) -> None:
        """Delete the positions and dead letters of a stream that no longer exists."""
        with self._database.write() as connection:
            _FORGET_POSITIONS.execute(connection, {"of_stream": stream})
            _FORGET_DEAD_OF.execute(connection, {"of_stream": stream})

    def sinks(self) -> list[str]:
        """Return the names of all sinks that ever received events, sorted."""
        with self._database.read() as connection:
            return _SINKS.scalars(connection)

    def failing(self) -> list[Position]:
        """Return the positions whose next event could not be delivered."""
        with self._database.read() as connection:
            return _FAILING.all(connection)

    def dead_letters(self) -> list[DeadLetter]:
        """Return the events that were given up, the oldest first."""
        with self._database.read() as connection:
            return _DEAD.all(connection)

    def prune(self, before: int) -> int:
        """Delete dead letters from before a time; return their number."""
        with self._database.write() as connection:
            return _FORGET_DEAD.execute(connection, {"before": before})


def _row(sink: str, stream: str, position: int) -> dict[str, Any]:
    return {
        "sink": sink,
        "stream": stream,
        "position": position,
        "claim": None,
        "claimed_until": 0,
        "failures": 0,
        "retry_at": 0,
    }
