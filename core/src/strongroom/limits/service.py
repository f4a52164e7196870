"""Counters in the database, shared by all processes and exact under concurrency."""

from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, Executable, bindparam, case, delete, select, update

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.pruning import prune
from strongroom.database.statements import Statement
from strongroom.database.upsert import for_each_dialect
from strongroom.limits.models import counters
from strongroom.secret_keys import SecretKeys


def _counting(insert: Any, *, fixed: bool) -> Executable:
    # One upsert counts atomically: an expired count restarts at 1, any other is incremented.
    expired = counters.c.expires_at <= bindparam("now")
    row = insert.values(subject=bindparam("subject"), count=1, expires_at=bindparam("expires_at"))
    renewed = row.excluded.expires_at
    upsert: Any = row.on_conflict_do_update(
        index_elements=[counters.c.subject],
        set_={
            "count": case((expired, 1), else_=counters.c.count + 1),
            "expires_at": case((expired, renewed), else_=counters.c.expires_at) if fixed else renewed,
        },
    )
    counting: Executable = upsert.returning(counters.c.count, counters.c.expires_at)
    return counting


_OF_SUBJECT: Final = counters.c.subject == bindparam("of_subject")
_ADD: Final = Statement(for_each_dialect(counters, partial(_counting, fixed=False)))
_ADD_WITHIN: Final = Statement(for_each_dialect(counters, partial(_counting, fixed=True)))
_TAKE_BACK: Final = Statement(
    update(counters).where(_OF_SUBJECT, counters.c.count > 0).values(count=counters.c.count - 1)
)
_RESET: Final = Statement(delete(counters).where(_OF_SUBJECT))


@dataclass(frozen=True, slots=True)
class Count:
    """The number of events of a subject. ``expires_at`` is in milliseconds since the Unix epoch."""

    events: int
    expires_at: int


class Counters:
    """Counts events by subject until the count expires.

    :meth:`add` extends a count with each event; :meth:`add_within` counts in fixed windows.
    """

    def __init__(self, clock: Clock, keys: SecretKeys) -> None:
        self._clock = clock
        self._keys = keys

    def add(self, connection: Connection, purpose: str, subject: str, *, lifetime: int) -> int:
        """Count one event and return how many there are now.

        Args:
            connection: a writing transaction.
            purpose: the kind of event.
            subject: the user, address or name to count for; stored as a keyed hash.
            lifetime: milliseconds after the last event until the count restarts.
        """
        return self._add(_ADD, connection, self._key(purpose, subject), lifetime).events

    def add_within(self, connection: Connection, purpose: str, subject: str, *, window: int) -> Count:
        """Count one event in a window that begins with its first event and never moves.

        Args:
            connection: a writing transaction.
            purpose: the kind of event.
            subject: the user, address or name to count for; stored as a keyed hash.
            window: the length of the window in milliseconds.
        """
        return self._add(_ADD_WITHIN, connection, self._key(purpose, subject), window)

    def count(self, connection: Connection, purpose: str, subject: str) -> int:
        """Return the number of events that have not expired."""
        query = select(counters.c.count).where(
            counters.c.subject == self._key(purpose, subject), counters.c.expires_at > self._clock.now()
        )
        return connection.execute(query).scalar() or 0

    def take_back(self, connection: Connection, purpose: str, subject: str) -> None:
        """Undo one :meth:`add`."""
        _TAKE_BACK.change(connection, {"of_subject": self._key(purpose, subject)})

    def reset(self, connection: Connection, purpose: str, subject: str) -> None:
        """Delete the count of a subject."""
        _RESET.change(connection, {"of_subject": self._key(purpose, subject)})

    def prune(self, database: Database) -> int:
        """Delete expired counts, and return how many rows were deleted."""
        return prune(database, counters.c.subject, counters.c.expires_at <= self._clock.now())

    def _add(self, statement: Statement[Any], connection: Connection, key: str, lifetime: int) -> Count:
        now = self._clock.now()
        row = {"subject": key, "now": now, "expires_at": now + lifetime}
        ((events, expires_at),) = statement.all(connection, row)
        return Count(events, expires_at)

    def _key(self, purpose: str, subject: str) -> str:
        return f"{purpose}:{self._keys.hash('counters', subject)}"
