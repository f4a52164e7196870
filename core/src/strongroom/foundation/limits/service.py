"""Rate limits and failure limits."""

import logging
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final

from flask_limiter import Limiter, RateLimitExceeded
from limits import RateLimitItem, parse
from limits.errors import StorageError
from sqlalchemy import Connection, Executable, bindparam, case, delete, select, update

from strongroom.clock import Clock
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.database import Database
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import TooManyRequests, Unavailable
from strongroom.foundation.limits.backends import counters
from strongroom.foundation.logs import ErrorLog
from strongroom.foundation.secret_keys import SecretKeys

logger = logging.getLogger(__name__)

UNCOUNTED: Final = ErrorLog(logger, has_traceback=False)
"""A backend that is unavailable refuses each count, so it is logged once a minute."""

RETRY_SECONDS: Final = 5
"""Value of Retry-After, in seconds, while the backend is unavailable."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The rates that limit one purpose for one subject; all of them apply."""

    purpose: str
    subject: str
    rates: Sequence[Rate]


Window = tuple[RateLimitItem, tuple[str, str]]
"""A rate, with the hashed subject and the purpose that it counts."""


class RateLimits:
    """Enforces rate limits. They fail closed: while the backend is unavailable, requests are refused.

    :meth:`check` and :meth:`has_room` count a request for the client's address by a key of ``[limits]``.
    :meth:`spend` and :meth:`require` apply several limits to an effect, such as sending a code.

    Args:
        limiter: the Flask-Limiter of the application; it identifies clients by :func:`hashed_subject`.
        limits: the rates by their keys in ``[limits]``.
        keys: hashes the subjects.
        on_refusal: called with the purpose of each limit that refuses an event.
    """

    def __init__(
        self,
        limiter: Limiter,
        limits: Mapping[str, Sequence[Rate]],
        keys: SecretKeys,
        clock: Clock,
        on_refusal: Callable[[str], None] = lambda _purpose: None,
    ) -> None:
        self._on_refusal = on_refusal
        self._limiter = limiter
        self._keys = keys
        self._clock = clock
        self._limits = limits
        self._checks = {name: self._make_check(name, rates) for name, rates in limits.items()}

    @property
    def names(self) -> Collection[str]:
        """The keys of ``[limits]``."""
        return self._limits.keys()

    def check(self, name: str) -> None:
        """Count the request for a limit of the client's address.

        Args:
            name: the key in ``[limits]``.

        Raises:
            TooManyRequests: the limit is reached.
            Unavailable: the backend is unavailable.
        """
        # Hot: without a context manager (ADR 0076).
        try:
            self._checks[name]()
        except RateLimitExceeded:
            raise self._check_refusal(name) from None
        except StorageError as error:
            raise _uncounted(error) from error

    def has_room(self, name: str) -> bool:
        """Count the request for a limit of the client's address; return whether the limit had room.

        For views that continue past a limit, for example with a captcha. A limit that only refuses is
        declared with the route.

        Raises:
            Unavailable: the backend is unavailable.
        """
        with _failing_closed():
            try:
                self._checks[name]()
            except RateLimitExceeded:
                return False
            return True

    def spend(self, *allowances: Allowance) -> None:
        """Count one event for each allowance.

        Nothing is counted unless all allowances have room. Exception: if a concurrent request uses the
        last room of one, the events counted before it remain. A rate is never exceeded.

        Raises:
            TooManyRequests: an allowance has no room.
            Unavailable: the backend is unavailable.
        """
        # Test all before hitting any, so that a refused request consumes no other allowance.
        self.require(*allowances)
        with _failing_closed():
            for item, key in self._windows(allowances):
                if not self._limiter.limiter.hit(item, *key):
                    raise self._refusal({key[1]}, [(item, key)])

    def require(self, *allowances: Allowance) -> None:
        """Check that all allowances have room, without counting an event.

        Raises:
            TooManyRequests: an allowance has no room.
            Unavailable: the backend is unavailable.
        """
        with _failing_closed():
            if full := self._full(self._windows(allowances)):
                raise self._refusal({purpose for _, (_, purpose) in full}, full)

    def _make_check(self, name: str, rates: Sequence[Rate]) -> Callable[[], None]:
        """Return a function that Flask-Limiter limits per client, in all routes together."""

        def check() -> None:
            pass

        # Flask-Limiter keeps limits by the names of functions.
        check.__name__ = name
        return self._limiter.shared_limit("; ".join(map(str, rates)), scope=name)(check)

    def _check_refusal(self, name: str) -> TooManyRequests:
        """Return the refusal of a request that a limit has no room for."""
        breach = next(limit for limit in self._limiter.current_limits if limit.breached)
        with _failing_closed():
            full = self._full(_make_windows(name, breach.request_args[0], self._limits[name]))
            return self._refusal({name}, full)

    def _windows(self, allowances: Iterable[Allowance]) -> list[Window]:
        return [
            window
            for allowance in allowances
            for window in _make_windows(
                allowance.purpose, hashed_subject(self._keys, allowance.subject), allowance.rates
            )
        ]

    def _full(self, windows: Iterable[Window]) -> list[Window]:
        test = self._limiter.limiter.test
        return [(item, key) for item, key in windows if not test(item, *key)]

    def _refusal(self, purposes: Iterable[str], full: Iterable[Window]) -> TooManyRequests:
        for purpose in purposes:
            self._on_refusal(purpose)
        # A retry succeeds only when all of them have room again. None is full if a window has moved
        # since the refusal.
        return TooManyRequests(retry_after=max((self._wait(*window) for window in full), default=1))

    def _wait(self, item: RateLimitItem, key: tuple[str, str]) -> int:
        """Return the number of seconds, at least 1, until a full window has room again."""
        resets_at = self._limiter.limiter.get_window_stats(item, *key).reset_time
        seconds = math.ceil(resets_at - self._clock.now() / 1000)
        # The backend's clock may be ahead of this one, so the wait is capped at the window's length.
        return max(1, min(seconds, item.get_expiry()))


def hashed_subject(keys: SecretKeys, subject: str) -> str:
    """Return the keyed hash of a subject, which may be a name or address that must not be readable."""
    return keys.hash("rates", subject)


@cache
def _item(rate: Rate) -> RateLimitItem:
    return parse(str(rate))


def _make_windows(purpose: str, subject: str, rates: Iterable[Rate]) -> list[Window]:
    return [(_item(rate), (subject, purpose)) for rate in rates]


@contextmanager
def _failing_closed() -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise _uncounted(error) from error


def _uncounted(error: StorageError) -> Unavailable:
    """Log why an event cannot be counted, and return the refusal."""
    # Imported here, because it imports the client of Redis.
    from strongroom.foundation.limits.redis_faults import refusal_code

    reason = error.storage_error
    UNCOUNTED.log(reason, "Rate limits cannot be counted: %s: %s", refusal_code(reason), reason)
    return Unavailable(retry_after=RETRY_SECONDS)


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
# The count may have expired and restarted in the meantime, so it never falls below 0.
_TAKE_BACK: Final = Statement(
    update(counters).where(_OF_SUBJECT, counters.c.count > 0).values(count=counters.c.count - 1)
)
_RESET: Final = Statement(delete(counters).where(_OF_SUBJECT))
_COUNT: Final = Statement(
    select(counters.c.count).where(_OF_SUBJECT, counters.c.expires_at > bindparam("now"))
)


Subject = tuple[str, str]
"""The purpose of a count, and the user, address or name to count for."""


def subject_key(keys: SecretKeys, purpose: str, subject: str) -> str:
    """Return the key of a subject in the table.

    A keyed hash, because the subject may be a name or address that must not be readable there.
    """
    return f"{purpose}:{keys.hash('counters', subject)}"


@dataclass(frozen=True, slots=True)
class Count:
    """The number of events of a subject. ``expires_at`` is in milliseconds since the Unix epoch."""

    events: int
    expires_at: int


@dataclass(slots=True, eq=False, repr=False)
class Counters:
    """Counts events by subject until the count expires.

    :meth:`add` extends a count with each event; :meth:`add_within` counts in fixed windows.
    """

    _clock: Clock
    _keys: SecretKeys

    def add(self, connection: Connection, purpose: str, subject: str, *, lifetime: int) -> int:
        """Count one event and return how many there are now.

        Args:
            subject: the user, address or name to count for; stored as a keyed hash.
            lifetime: milliseconds after the last event until the count restarts.
        """
        return self._add(_ADD, connection, self._key(purpose, subject), lifetime).events

    def add_within(self, connection: Connection, purpose: str, subject: str, *, window: int) -> Count:
        """Count one event in a window that begins with its first event and never moves.

        Args:
            subject: the user, address or name to count for; stored as a keyed hash.
            window: the length of the window in milliseconds.
        """
        return self._add(_ADD_WITHIN, connection, self._key(purpose, subject), window)

    def count(self, connection: Connection, purpose: str, subject: str) -> int:
        """Return the number of events that have not expired."""
        parameters = {"of_subject": self._key(purpose, subject), "now": self._clock.now()}
        return _COUNT.scalar(connection, parameters) or 0

    def take_back(self, connection: Connection, purpose: str, subject: str) -> None:
        """Undo one :meth:`add`."""
        _TAKE_BACK.execute(connection, {"of_subject": self._key(purpose, subject)})

    def reset(self, connection: Connection, purpose: str, subject: str) -> None:
        """Delete the count of a subject."""
        _RESET.execute(connection, {"of_subject": self._key(purpose, subject)})

    def prune(self, database: Database) -> int:
        """Delete expired counts, and return how many rows were deleted."""
        now = self._clock.now()
        is_over = (counters.c.expires_at <= now) & (counters.c.pending_until <= now)
        return prune(database, counters.c.subject, is_over)

    def _add(self, statement: Statement[Any], connection: Connection, key: str, lifetime: int) -> Count:
        now = self._clock.now()
        row = {"subject": key, "now": now, "expires_at": now + lifetime}
        ((events, expires_at),) = statement.all(connection, row)
        return Count(events, expires_at)

    def _key(self, purpose: str, subject: str) -> str:
        return subject_key(self._keys, purpose, subject)
