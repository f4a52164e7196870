"""Where rate limits are counted: in the database or in Redis."""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from flask_limiter import Limiter
from limits.storage import MovingWindowSupport, RedisStorage, Storage
from sqlalchemy import (
    Column,
    Connection,
    Index,
    Integer,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    literal,
    select,
)
from sqlalchemy.exc import SQLAlchemyError

from strongroom.clock import Clock
from strongroom.foundation.cache import Cache
from strongroom.foundation.config.rates import SECONDS
from strongroom.foundation.config.redis_urls import RedisAddress
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import AdvisoryLock
from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.pruning import AmortizedPruning, prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.ids import new_id

if TYPE_CHECKING:
    from flask import Flask

    from strongroom.foundation.limits.redis_faults import RedisFault
    from strongroom.foundation.limits.redis_risks import Risk
    from strongroom.foundation.limits.redis_storage import RedisWindows

counters: Final = Table(
    "counters",
    metadata,
    Column("subject", String(128), primary_key=True),
    Column("count", Integer, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("pending", Integer, nullable=False, server_default="0"),
    Column("pending_until", Timestamp, nullable=False, server_default="0"),
    Index(None, "expires_at"),
)
"""Counts by subject. A subject is a purpose and a keyed hash, never a name in clear text.

``pending`` are attempts whose outcome is not known yet; they are forgotten at ``pending_until``.
"""

rate_events: Final = Table(
    "rate_events",
    metadata,
    Column("id", Id, primary_key=True),
    Column("subject", String(128), nullable=False),
    Column("at", Timestamp, nullable=False),
    Index(None, "subject", "at"),
    Index(None, "at"),
)
"""Each event that a rate limit allowed, until it is older than the longest window."""


SCHEME: Final = "strongroom-database"
"""The URI scheme by which Flask-Limiter finds the storage."""

_SECOND: Final = 1000
_LONGEST: Final = max(SECONDS.values())

_SUBJECT_LOCK: Final = AdvisoryLock(func.hashtextextended(bindparam("subject"), 0))
_OF_SUBJECT: Final = rate_events.c.subject == bindparam("of_subject")
_IN_WINDOW: Final = _OF_SUBJECT & (rate_events.c.at > bindparam("since"))
_COUNT: Final = Statement(select(func.min(rate_events.c.at), func.count()).where(_IN_WINDOW))
# One statement counts and inserts; it changes no row if the window is full.
_ADD: Final = Statement(
    insert(rate_events).from_select(
        ["id", "subject", "at"],
        select(
            bindparam("id", type_=rate_events.c.id.type),
            bindparam("of_subject", type_=rate_events.c.subject.type),
            bindparam("now", type_=rate_events.c.at.type),
        ).where(
            select(func.count()).select_from(rate_events).where(_IN_WINDOW).scalar_subquery()
            < bindparam("limit", type_=Integer)
        ),
    )
)
_COUNT_ALL: Final = Statement(select(func.count()).select_from(rate_events).where(_OF_SUBJECT))
_CLEAR: Final = Statement(delete(rate_events).where(_OF_SUBJECT))
_RESET: Final = Statement(delete(rate_events))
_CHECK: Final = Statement(select(literal(1)))
_KNOWN_FULL: Final = 4096
_ANY_ROUTE: Final = "operation"


class DatabaseStorage(Storage, MovingWindowSupport):
    """Stores each event of a moving window as a row.

    A lock per subject serializes the writers, so that concurrent requests cannot exceed a limit.
    """

    STORAGE_SCHEME: list[str] | None = [SCHEME]  # noqa: RUF012  as in the base class

    def __init__(self, uri: str | None = None, *, database: Database, clock: Clock) -> None:
        super().__init__(uri)
        self._database = database
        self._clock = clock
        # The end of the time for which a window is known to be full. Events leave a window only by age,
        # so until then a flood of refused requests needs neither the writer lock nor the database.
        self._full_until = Cache[str, int](_KNOWN_FULL)
        self._pruning = AmortizedPruning(rate_events.c.id, rate_events.c.at)

    @property
    def base_exceptions(self) -> type[Exception]:
        return SQLAlchemyError

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        if amount != 1:
            raise NotImplementedError("only single events are supported")
        now = self._clock.now()
        if (self._full_until.get(key) or 0) > now:
            return False
        window = {"of_subject": key, "since": now - expiry * _SECOND}
        # Non-durable: an attacker cannot exploit counts lost in a power failure.
        with self._database.write(durable=False) as connection:
            # PostgreSQL runs writers concurrently, so count under the lock of the subject. Two subjects
            # with the same hash only wait for each other.
            _SUBJECT_LOCK.acquire(connection, subject=key)
            if _ADD.execute(connection, {**window, "id": new_id(), "now": now, "limit": limit}):
                self._pruning.inserted(connection, now - _LONGEST * _SECOND)
                return True
            oldest = self._count(connection, key, now, expiry)[0]
        self._full_until.put(key, oldest + expiry * _SECOND)
        return False

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:  # noqa: ARG002
        now = self._clock.now()
        with self._database.read() as connection:
            start, count = self._count(connection, key, now, expiry)
        return start / _SECOND, count

    def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        raise NotImplementedError("only moving windows are supported")

    def get(self, key: str) -> int:
        with self._database.read() as connection:
            count: int = _COUNT_ALL.scalar(connection, {"of_subject": key})
        return count

    def get_expiry(self, key: str) -> float:  # noqa: ARG002
        return self._clock.now() / _SECOND

    def check(self) -> bool:
        with self._database.read() as connection:
            return bool(_CHECK.scalar(connection) == 1)

    def reset(self) -> int | None:
        self._full_until = Cache[str, int](_KNOWN_FULL)
        with self._database.write() as connection:
            return _RESET.execute(connection)

    def clear(self, key: str) -> None:
        self._full_until.put(key, 0)
        with self._database.write() as connection:
            _CLEAR.execute(connection, {"of_subject": key})

    def _count(self, connection: Connection, key: str, now: int, expiry: int) -> tuple[int, int]:
        within = {"of_subject": key, "since": now - expiry * _SECOND}
        ((start, count),) = _COUNT.all(connection, within)
        return start or now, count


def prune_events(database: Database, clock: Clock) -> int:
    """Delete the events that are older than the longest window, and return how many were deleted."""
    return prune(database, rate_events.c.id, rate_events.c.at <= clock.now() - _LONGEST * _SECOND)


@dataclass(frozen=True, slots=True)
class LimitBackend:
    """The URI and options from which Flask-Limiter creates a storage."""

    uri: str
    options: Mapping[str, Any]

    def open(self, app: "Flask", subject: Callable[[], str]) -> Limiter:
        """Return the Flask-Limiter of an application.

        Args:
            subject: returns the subject that a request counts for.
        """
        limiter = Limiter(
            subject,
            strategy="moving-window",
            storage_uri=self.uri,
            # The annotation covers only the storages that Flask-Limiter ships.
            storage_options=cast("dict[str, str | int]", dict(self.options)),
            # Fail closed: no request passes because the backend is unavailable.
            swallow_errors=False,
            in_memory_fallback_enabled=False,
            headers_enabled=False,
            # All limits are shared by routes, so it does not matter which of them a request is for.
            request_identifier=_ANY_ROUTE.__str__,
        )
        # Refusals are counted in the metrics; a line for each would let a flood fill the log.
        limiter.logger.setLevel(logging.WARNING)
        # Known to the application in advance, so that ``init_app`` adds no hooks: operations count
        # before they authenticate, and hooks would take time in the requests that have no limit.
        app.extensions["limiter"] = {limiter}
        limiter.init_app(app)
        return limiter


_AWAY: Final = "It does not answer."


def in_redis(address: RedisAddress) -> LimitBackend:
    """Return the backend for Redis, with short timeouts in case it hangs."""
    # Imported here, because it imports the client.
    from strongroom.foundation.limits.redis_clients import redis_servers
    from strongroom.foundation.limits.redis_storage import SCHEME as REDIS_SCHEME

    return LimitBackend(f"{REDIS_SCHEME}://", {"servers": redis_servers(address)})


def storage_fault(storage: Storage) -> str | None:
    """Return why a storage cannot count, or ``None``; the text is public."""
    if isinstance(storage, RedisStorage):
        fault = redis_fault(storage)
        return fault.note if fault else None
    return None if storage.check() else _AWAY


def redis_fault(storage: Storage) -> "RedisFault | None":
    """Return why the Redis of a storage cannot count, or ``None``."""
    # Imported here, because it imports the client.
    from strongroom.foundation.limits.redis_faults import find_fault

    return find_fault(cast("RedisWindows", storage).servers)


def redis_risks(storage: Storage) -> "Iterable[Risk]":
    """Return the settings with which the Redis of a storage could lose counts."""
    # Imported here, because it imports the client.
    from strongroom.foundation.limits.redis_risks import find_risks

    return find_risks(cast("RedisWindows", storage).servers)


def in_database(database: Database, clock: Clock) -> LimitBackend:
    """Return the backend for the database."""
    return LimitBackend(f"{SCHEME}://", {"database": database, "clock": clock})
