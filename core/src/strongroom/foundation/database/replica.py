"""A streaming standby of PostgreSQL, which answers reads once it has replayed the commits before them.

A read names the position of the primary's log at its beginning. The standby answers if it has replayed
the log up to there, so its rows are not older than the read. This is why no node has to remember who has
written, and why permissions may be part of a query.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from strongroom.foundation.database.failures import DATABASE_ERRORS, raise_translated
from strongroom.foundation.database.read_pool import Reader, ReadPool
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Unavailable
from strongroom.foundation.logs import ErrorLog

PAUSE_SECONDS: Final = 1.0
"""Seconds for which a standby that failed, or lags behind by too much, is not used."""

_FIRST_PAUSE: Final = 0.001
_CONFLICTS: Final = frozenset({"40001", "40P01"})
"""SQLSTATE codes of statements that the standby cancels because they conflict with replayed changes."""

_CANCELLED: Final = "57014"
"""SQLSTATE code of a statement that reached its time limit, which is the same on the primary."""

logger = logging.getLogger(__name__)

AWAY: Final = ErrorLog(logger, has_traceback=False)
"""Each read falls back to the primary, so the fault is logged once a minute."""

# Commits are durable up to the flushed position. Commits that need not survive a power failure may come
# a moment later.
_POSITION: Final = Statement(
    text("SELECT pg_current_wal_flush_lsn()::text, extract(epoch FROM clock_timestamp())::float8"), tuple
)
# A standby without a receiver may follow another primary: its positions mean nothing then.
_STATE: Final = Statement(
    text(
        "SELECT pg_is_in_recovery(), EXISTS (SELECT FROM pg_stat_wal_receiver WHERE pid IS NOT NULL), "
        "coalesce(pg_last_wal_replay_lsn() >= CAST(:lsn AS pg_lsn), false), "
        "extract(epoch FROM pg_last_xact_replay_timestamp())::float8"
    ),
    tuple,
)


class ReplicaFailed(Exception):
    """A read was interrupted on the standby; the primary has to repeat it."""


class ReplayPosition(NamedTuple):
    """A position of the primary's log, and the primary's time there in seconds since the Unix epoch."""

    lsn: str
    at: float


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """The state of a standby.

    Args:
        fault: why it cannot answer reads; ``None`` if it can.
        age: seconds since the newest change that it has replayed; 0 if it has all of them.
    """

    fault: str | None
    age: float = 0


NO_STANDBY: Final = "is no standby"
NOT_STREAMING: Final = "does not stream from a primary"


def read_cluster(connection: Connection) -> str:
    """Return the identity of a database, which it shares with its standbys only."""
    # Imported here because psycopg is installed only for PostgreSQL.
    from strongroom.foundation.database.postgresql import CLUSTER

    return str(connection.exec_driver_sql(CLUSTER).scalar())


def read_position(connection: Connection) -> ReplayPosition:
    """Return the position up to which commits are durable on the primary."""
    ((lsn, at),) = _POSITION.all(connection)
    return ReplayPosition(lsn, at)


class Replica:
    """The standby of a database, for reads of one process.

    Args:
        engine: opens connections to it; it has no pool of its own.
        size: the maximum number of connections.
        wait_seconds: how long a read waits until the standby has replayed the changes before it.
        max_age: the age in seconds beyond which no read waits.
        hangs: returns whether the server is known not to respond.
        on_close: called by :meth:`close`.
    """

    def __init__(
        self,
        engine: Engine,
        size: int,
        wait_seconds: float,
        max_age: float,
        hangs: Callable[[], bool],
        on_close: Callable[[], None],
    ) -> None:
        self.engine = engine
        self.max_age = max_age
        self._pool = ReadPool(engine, size)
        self._wait_seconds = wait_seconds
        self._hangs = hangs
        self._on_close = on_close
        self._unused_until = 0.0

    @property
    def is_usable(self) -> bool:
        """Whether reads may try it."""
        return not self._hangs() and time.monotonic() >= self._unused_until

    def acquire(self, position: ReplayPosition) -> Reader | None:
        """Return a connection that sees all commits before a position, or ``None``."""
        try:
            reader = self._pool.acquire(in_transaction=False)
        except (*DATABASE_ERRORS, Unavailable) as error:
            self.note_failure(error)
            return None
        if reader is None:
            return None
        try:
            state = self._wait(reader.connection, position)
        except DATABASE_ERRORS as error:
            self._pool.discard(reader)
            self.note_failure(error)
            return None
        except BaseException as error:
            self._pool.release(reader, error)
            raise
        if state.fault is None and not state.age:
            return reader
        self._pool.release(reader, None)
        if state.fault is not None or state.age > self.max_age:
            self._pause(state.fault or f"is {state.age:.0f} s behind")
        return None

    def release(self, reader: Reader, error: BaseException | None) -> None:
        """Return a connection.

        Raises:
            ReplicaFailed: the error is one of the standby, so the primary may succeed.
        """
        if not isinstance(error, DATABASE_ERRORS):
            self._pool.release(reader, error)
            return
        # No statement is repeated on another connection, so one that was lost must not stay here.
        self._pool.discard(reader)
        if _sqlstate(error) == _CANCELLED:
            raise_translated(error)
        self.note_failure(error)
        raise ReplicaFailed from error

    def examine(self, position: ReplayPosition) -> ReplicaState:
        """Return the state of the standby, by a connection of its own.

        Raises:
            sqlalchemy.exc.DBAPIError: it does not answer, or refuses the login.
        """
        # Imported here because psycopg is installed only for PostgreSQL.
        from strongroom.foundation.database.postgresql import WrongReplica

        try:
            with self.engine.connect() as connection:
                return _read_state(connection, position)
        except DBAPIError as error:
            if isinstance(error.orig, WrongReplica):
                return ReplicaState(str(error.orig))
            raise

    def note_failure(self, error: BaseException) -> None:
        """Do not use the standby for a while, unless only a statement of it was cancelled."""
        if _sqlstate(error) not in _CONFLICTS:
            reason = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
            self._pause(f"failed: {reason}")

    def close(self) -> None:
        """Close all connections."""
        self._on_close()
        self._pool.close()

    def _wait(self, connection: Connection, position: ReplayPosition) -> ReplicaState:
        ends, pause = time.monotonic() + self._wait_seconds, _FIRST_PAUSE
        while True:
            state = _read_state(connection, position)
            is_waiting = state.fault is None and 0 < state.age <= self.max_age
            if not is_waiting or time.monotonic() + pause > ends:
                return state
            time.sleep(pause)
            pause *= 2

    def _pause(self, reason: str) -> None:
        self._unused_until = time.monotonic() + PAUSE_SECONDS
        AWAY.log(ReplicaFailed(reason), "The primary answers the reads of the replica, which %s", reason)


def _read_state(connection: Connection, position: ReplayPosition) -> ReplicaState:
    ((is_standby, is_streaming, has_all, replayed_at),) = _STATE.all(connection, {"lsn": position.lsn})
    if not is_standby:
        return ReplicaState(NO_STANDBY)
    if not is_streaming:
        return ReplicaState(NOT_STREAMING)
    if has_all:
        return ReplicaState(None)
    # The times are of the primary, so the clocks of the servers may differ. A change that was not
    # replayed is never 0 seconds old.
    return ReplicaState(None, max(0.001, position.at - (replayed_at or 0)))


def _sqlstate(error: BaseException | None) -> str | None:
    orig: Any = error.orig if isinstance(error, DBAPIError) else None
    return getattr(orig, "sqlstate", None)
