"""Where rate limits are counted: in the database or in Redis."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from limits.storage import MovingWindowSupport, Storage, storage_from_string
from sqlalchemy import Connection, bindparam, delete, func, insert, select
from sqlalchemy.exc import SQLAlchemyError

from strongroom.clock import Clock
from strongroom.config.rates import SECONDS
from strongroom.database import Database
from strongroom.database.locks import lock_until_commit
from strongroom.database.pruning import prune
from strongroom.database.statements import Statement
from strongroom.ids import new_id
from strongroom.limits.models import rate_events

SCHEME: Final = "strongroom-database"
"""The URI scheme by which Flask-Limiter finds the storage."""

_SECOND: Final = 1000
_LONGEST: Final = max(SECONDS.values())

_OF_SUBJECT: Final = rate_events.c.subject == bindparam("of_subject")
_FORGET: Final = Statement(
    delete(rate_events).where(_OF_SUBJECT, rate_events.c.at <= bindparam("since"))
)
_COUNT: Final = Statement(
    select(func.min(rate_events.c.at), func.count()).where(
        _OF_SUBJECT, rate_events.c.at > bindparam("since")
    )
)
_ADD: Final = Statement(insert(rate_events))


class DatabaseStorage(Storage, MovingWindowSupport):
    """Stores each event of a moving window as a row.

    A lock per subject serializes the writers, so that concurrent requests cannot exceed a limit.
    """

    STORAGE_SCHEME: list[str] | None = [SCHEME]  # noqa: RUF012  as in the base class

    def __init__(self, uri: str | None = None, *, database: Database, clock: Clock) -> None:
        super().__init__(uri)
        self._database = database
        self._clock = clock

    @property
    def base_exceptions(self) -> type[Exception]:
        return SQLAlchemyError

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        now = self._clock.now()
        # Check first without the writer lock, so that a flood of refused requests does not occupy it.
        with self._database.read() as connection:
            if self._count(connection, key, now, expiry)[1] + amount > limit:
                return False
        # Non-durable: an attacker cannot exploit counts lost in a power failure.
        with self._database.write(durable=False) as connection:
            # PostgreSQL runs writers concurrently, so count again under the lock of the subject. Two
            # subjects with the same hash only wait for each other.
            lock_until_commit(connection, func.hashtextextended(key, 0))
            _FORGET.change(connection, {"of_subject": key, "since": now - expiry * _SECOND})
            if self._count(connection, key, now, expiry)[1] + amount > limit:
                return False
            for _ in range(amount):
                _ADD.change(connection, {"id": new_id(), "subject": key, "at": now})
        return True

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:  # noqa: ARG002
        now = self._clock.now()
        with self._database.read() as connection:
            start, count = self._count(connection, key, now, expiry)
        return start / _SECOND, count

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        raise NotImplementedError("only moving windows are supported")

    def get(self, key: str) -> int:
        with self._database.read() as connection:
            query = select(func.count()).select_from(rate_events).where(rate_events.c.subject == key)
            return connection.execute(query).scalar_one()

    def get_expiry(self, key: str) -> float:  # noqa: ARG002
        return self._clock.now() / _SECOND

    def check(self) -> bool:
        with self._database.read() as connection:
            return connection.execute(select(1)).scalar() == 1

    def reset(self) -> int | None:
        with self._database.write() as connection:
            return connection.execute(delete(rate_events)).rowcount

    def clear(self, key: str) -> None:
        with self._database.write() as connection:
            connection.execute(delete(rate_events).where(rate_events.c.subject == key))

    def _count(self, connection: Connection, key: str, now: int, expiry: int) -> tuple[int, int]:
        within = {"of_subject": key, "since": now - expiry * _SECOND}
        ((start, count),) = _COUNT.all(connection, within)
        return start or now, count


def prune_events(database: Database, clock: Clock) -> int:
    """Delete the events that are older than the longest window, and return how many were deleted."""
    return prune(database, rate_events.c.id, rate_events.c.at <= clock.now() - _LONGEST * _SECOND)


# TCP repeats a lost packet after 0.2 s, and a lost SYN after 1 s. The timeout is longer, so that neither
# counts as an outage, and short, because each waiting request occupies a thread of the server.
_REDIS_TIMEOUT_SECONDS: Final = 1.5


@dataclass(frozen=True, slots=True)
class LimitBackend:
    """The URI and options from which ``limits`` and Flask-Limiter create a storage."""

    uri: str
    options: Mapping[str, Any]

    def open(self) -> Storage:
        """Create the storage.

        Raises:
            TypeError: the URI names an asynchronous storage.
        """
        storage = storage_from_string(self.uri, **self.options)
        if not isinstance(storage, Storage):
            raise TypeError("an asynchronous storage cannot be used here")
        return storage


def in_redis(url: str) -> LimitBackend:
    """Return the backend for Redis, with short timeouts in case it hangs.

    Requests to Redis are not retried, because the first try may have been counted.
    """
    timeouts = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), _REDIS_TIMEOUT_SECONDS)
    return LimitBackend(url, {"wrap_exceptions": True, **timeouts})


def in_database(database: Database, clock: Clock) -> LimitBackend:
    """Return the backend for the database."""
    return LimitBackend(f"{SCHEME}://", {"database": database, "clock": clock})
