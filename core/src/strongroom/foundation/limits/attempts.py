"""Counts failed attempts, and the attempts whose outcome is not known yet."""

from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Executable, bindparam, case, select, update

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import Unavailable
from strongroom.foundation.limits.backends import counters
from strongroom.foundation.limits.service import Subject, subject_key
from strongroom.foundation.secret_keys import SecretKeys

LEASE: Final = 20_000
"""Milliseconds until an attempt is forgotten whose outcome was never recorded.

Its process has ended, so its client got no answer and learned nothing. The outcome of an attempt that
takes longer must be ignored, because others may have taken its place.
"""


_OWED_MILLISECONDS: Final = LEASE // 2
"""How long an outcome is owed; later, the attempt's lease may have ended."""

_MAX_OWED: Final = 1_000


@dataclass(frozen=True, slots=True)
class Tally:
    """The attempts of one subject.

    Args:
        failures: the failures that have not expired.
        pending: the attempts whose outcome is not known yet.
    """

    failures: int
    pending: int


@dataclass(frozen=True, slots=True)
class SubjectPair:
    """The hashed keys of the two subjects that an attempt counts for.

    Args:
        fixed: failures are counted in a fixed window.
        extended: each failure extends the count.
    """

    fixed: str
    extended: str


# Each statement changes two rows and names the fixed one first, because PostgreSQL locks the rows in
# that order, so concurrent transactions cannot deadlock.
_COLUMNS: Final = counters.c
_IS_EXTENDED: Final = _COLUMNS.subject == bindparam("extended")
_IS_OVER: Final = _COLUMNS.expires_at <= bindparam("now")
_ARE_FORGOTTEN: Final = _COLUMNS.pending_until <= bindparam("now")
_FAILURES: Final = case((_IS_OVER, 0), else_=_COLUMNS.count)
_PENDING: Final = case((_ARE_FORGOTTEN, 0), else_=_COLUMNS.pending)
_ONE_LESS: Final = case((_COLUMNS.pending > 0, _COLUMNS.pending - 1), else_=0)


def _upsert(insert: Any, fixed: dict[str, Any], extended: dict[str, Any], changes: Any) -> Any:
    rows = [{"subject": bindparam("fixed"), **fixed}, {"subject": bindparam("extended"), **extended}]
    row = insert.values(rows)
    return row.on_conflict_do_update(index_elements=[_COLUMNS.subject], set_=changes(row.excluded))


def _reserving(insert: Any) -> Executable:
    new = {
        "count": 0,
        "expires_at": bindparam("lease_ends_at"),
        "pending": 1,
        "pending_until": bindparam("lease_ends_at"),
    }
    reserving: Executable = _upsert(
        insert,
        new,
        new,
        lambda excluded: {
            "count": _FAILURES,
            "expires_at": case((_IS_OVER, excluded.expires_at), else_=_COLUMNS.expires_at),
            "pending": _PENDING + 1,
            "pending_until": excluded.pending_until,
        },
    ).returning(_COLUMNS.subject, _COLUMNS.count, _COLUMNS.pending)
    return reserving


def _failing(insert: Any) -> Executable:
    new = {"count": 1, "pending": 0, "pending_until": 0}
    # The fixed window begins with its first failure; attempts that succeed do not begin one.
    begins = _IS_OVER | (_COLUMNS.count == 0)
    failing: Executable = _upsert(
        insert,
        {**new, "expires_at": bindparam("window_ends_at")},
        {**new, "expires_at": bindparam("expires_at")},
        lambda excluded: {
            "count": case((_IS_OVER, 1), else_=_COLUMNS.count + 1),
            "expires_at": case((begins | _IS_EXTENDED, excluded.expires_at), else_=_COLUMNS.expires_at),
            "pending": _ONE_LESS,
        },
    )
    return failing


def _releasing(insert: Any) -> Executable:
    # An upsert, too, only for the order of its locks. A missing row is inserted as an expired one.
    expired = {"count": 0, "expires_at": bindparam("now"), "pending": 0, "pending_until": 0}
    releasing: Executable = _upsert(
        insert,
        expired,
        expired,
        lambda _excluded: {
            "count": case((_COLUMNS.subject == bindparam("cleared"), 0), else_=_COLUMNS.count),
            "pending": _ONE_LESS,
        },
    )
    return releasing


_RESERVE: Final = Statement(for_each_dialect(counters, _reserving))
_FAIL: Final = Statement(for_each_dialect(counters, _failing))
_RELEASE: Final = Statement(for_each_dialect(counters, _releasing))
_READ: Final = Statement(
    select(_COLUMNS.subject, _FAILURES, _PENDING).where(
        _COLUMNS.subject.in_([bindparam("fixed"), bindparam("extended")])
    )
)
# The row stays, because it also has the attempts that are pending.
_CLEAR: Final = Statement(
    update(counters).where(_COLUMNS.subject == bindparam("of_subject")).values(count=0)
)
_NO_SUBJECT: Final = ""


class Attempts:
    """Counts the attempts of pairs of subjects, such as an address and a name.

    An attempt is reserved before its evaluation and then fails, succeeds or is undone. Failures of the
    first subject are counted in a fixed window, and each failure of the second one extends its count.

    Args:
        window: milliseconds of the fixed window.
        lifetime: milliseconds after the last failure until the other count expires.
    """

    def __init__(self, clock: Clock, keys: SecretKeys, *, window: int, lifetime: int) -> None:
        self._clock = clock
        self._keys = keys
        self._window = window
        self._lifetime = lifetime
        self._owed: deque[Change] = deque(maxlen=_MAX_OWED)

    def lease_end(self) -> int:
        """Return when the lease of an attempt that is reserved now ends."""
        return self._clock.now() + LEASE

    def is_over(self, lease_end: int) -> bool:
        """Return whether a lease has ended."""
        return lease_end <= self._clock.now()

    def pair(self, fixed: Subject, extended: Subject) -> SubjectPair:
        """Return the keys of two subjects, which an attempt needs several times."""
        keys = self._keys
        return SubjectPair(subject_key(keys, *fixed), subject_key(keys, *extended))

    def reserve(self, connection: Connection, pair: SubjectPair) -> tuple[Tally, Tally]:
        """Reserve an attempt; return the tallies of both subjects, including this attempt."""
        now = self._clock.now()
        parameters = {"fixed": pair.fixed, "extended": pair.extended, "now": now}
        return _tallies(_RESERVE.all(connection, {**parameters, "lease_ends_at": now + LEASE}), pair)

    def read(self, connection: Connection, pair: SubjectPair) -> tuple[Tally, Tally]:
        """Return the tallies of both subjects."""
        parameters = {"fixed": pair.fixed, "extended": pair.extended, "now": self._clock.now()}
        return _tallies(_READ.all(connection, parameters), pair)

    def failure(self, pair: SubjectPair) -> Change:
        """Return the change that counts a reserved attempt as a failure."""
        now = self._clock.now()
        ends = {"window_ends_at": now + self._window, "expires_at": now + self._lifetime}
        return Change(_FAIL, {"fixed": pair.fixed, "extended": pair.extended, **ends, "now": now})

    def success(self, pair: SubjectPair) -> Change:
        """Return the change that ends a reserved attempt and clears the failures of ``extended``."""
        return self._release(pair, pair.extended)

    def undo(self, pair: SubjectPair) -> Change:
        """Return the change that ends a reserved attempt that was not evaluated."""
        return self._release(pair, _NO_SUBJECT)

    def clear(self, subject: Subject) -> Change:
        """Return the change that clears the failures of a subject."""
        return Change(_CLEAR, {"of_subject": subject_key(self._keys, *subject)})

    def owe(self, change: Change) -> None:
        """Keep the outcome of an attempt whose transaction failed, for a later transaction."""
        self._owed.append(change)

    def settle_owed(self, database: Database) -> None:
        """Record the outcomes that are owed, each in a transaction of its own.

        Raises:
            Unavailable: the database is still unavailable; the outcomes stay owed.
        """
        # Hot: mostly none is owed, see ADR 0076.
        for change in self._take_owed() if self._owed else ():
            try:
                with database.write(durable=False) as connection:
                    execute_together(connection, [change])
            except Unavailable:
                self.owe(change)
                raise

    def _take_owed(self) -> Iterator[Change]:
        # Other threads take some at the same time.
        with suppress(IndexError):
            while True:
                change = self._owed.popleft()
                if change.parameters["now"] + _OWED_MILLISECONDS > self._clock.now():
                    yield change

    def _release(self, pair: SubjectPair, cleared: str) -> Change:
        parameters = {"fixed": pair.fixed, "extended": pair.extended, "cleared": cleared}
        return Change(_RELEASE, {**parameters, "now": self._clock.now()})


def _tallies(rows: list[Any], pair: SubjectPair) -> tuple[Tally, Tally]:
    fixed = extended = Tally(0, 0)
    for subject, failures, pending in rows:
        if subject == pair.fixed:
            fixed = Tally(failures, pending)
        else:
            extended = Tally(failures, pending)
    return fixed, extended
