"""Connections that stay checked out for reading.

SQLAlchemy's pool and transaction cost several times as much as finding a row by its key: a connection is
checked out and pinged, wrapped, reset and returned. Reads change nothing, so there is nothing to reset,
and their connections are kept as they are.
"""

import sqlite3
from collections import deque
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from threading import Condition, Lock
from types import TracebackType
from typing import Any, Final

from sqlalchemy import Connection, Engine

from strongroom.foundation.database.compiled import is_observed
from strongroom.foundation.database.engines import begin_pooled_read, end_pooled_read
from strongroom.foundation.database.failures import raise_translated
from strongroom.foundation.database.transaction_clock import OneTransaction
from strongroom.foundation.errors import Unavailable

_WAIT_SECONDS: Final = 0.25


@dataclass(slots=True)
class Reader:
    """A connection in autocommit mode that refuses to write, and the driver's on SQLite.

    Through a pooler of PostgreSQL, it has transactions, and these refuse to write.
    """

    connection: Connection
    sqlite: Any
    generation: int
    is_pooled: bool


class ReadPool:
    """A pool of connections for reading.

    Args:
        engine: opens the connections; it has no pool of its own.
        size: the maximum number of connections.
    """

    def __init__(self, engine: Engine, size: int) -> None:
        self.engine = engine
        self._size = size
        self._is_sqlite = engine.dialect.name == "sqlite"
        # deque.pop and deque.append are atomic, so only opening and closing need the lock.
        self._idle: deque[Reader] = deque()
        self._lock = Lock()
        self._open = 0
        self._returned = Condition()
        self._waiting = 0
        # Counts the calls of close(), so that connections that were in use then are not kept.
        self._generation = 0

    def acquire(self, in_transaction: bool) -> Reader | None:
        """Return a connection, or ``None`` if all stay in use for a while.

        Args:
            in_transaction: whether all statements see one snapshot, if the database is SQLite.

        Raises:
            sqlalchemy.exc.DBAPIError, Unavailable: the database is unavailable.
        """
        # The connection that was used last has the warmest page cache, so the pool is a stack.
        try:
            reader = self._idle.pop()
        except IndexError:
            found = self._connect() or self._wait()
            if found is None:
                return None
            reader = found
        if in_transaction and reader.sqlite is not None:
            self._begin(reader)
        elif reader.is_pooled:
            self._begin_pooled(reader)
        return reader

    def release(self, reader: Reader, error: BaseException | None) -> None:
        """Return a connection; after an error that may have broken it, it is closed."""
        if reader.connection.in_transaction():
            # SQLAlchemy began a transaction of its own for a statement that it executed.
            reader.connection.rollback()
        # An interrupt may leave the answer of a statement unread.
        is_sound = error is None or isinstance(error, Exception)
        is_sound = is_sound and self._end(reader) and not reader.connection.invalidated
        if not is_sound or reader.generation != self._generation:
            self._close(reader)
            return
        self._idle.append(reader)
        if self._waiting:
            with self._returned:
                self._returned.notify()

    def discard(self, reader: Reader) -> None:
        """Close a connection instead of returning it."""
        self._close(reader)

    def close(self) -> None:
        """Close the idle connections, and each other one when it is returned."""
        self._generation += 1
        with suppress(IndexError):
            while True:
                self._close(self._idle.pop())

    def _connect(self) -> Reader | None:
        # Counted before it is opened, so that concurrent threads cannot exceed the limit.
        if not self._count(1):
            return None
        try:
            connection = self.engine.connect()
        except BaseException:
            self._count(-1)
            raise
        driver: Any = connection.connection.driver_connection
        if self._is_sqlite:
            return Reader(connection, driver, self._generation, is_pooled=False)
        return Reader(connection, None, self._generation, driver.is_pooled)

    def _wait(self) -> Reader | None:
        """Return the next connection that is released, or ``None`` if none is for a while.

        A read takes microseconds, so waiting costs less than an ordinary connection.
        """
        with self._returned:
            # Counted before the pool is searched again, so that a release in between notifies.
            self._waiting += 1
            try:
                # Repeated, because another thread may take the connection first.
                while self._returned.wait_for(lambda: self._idle, _WAIT_SECONDS):
                    with suppress(IndexError):
                        return self._idle.pop()
                return None
            finally:
                self._waiting -= 1

    def _begin(self, reader: Reader) -> None:
        # On SQLite a transaction costs a microsecond, and gives all statements of a block one snapshot.
        # On PostgreSQL it would cost two round trips, and each statement would have its own snapshot
        # all the same, because of the default isolation level.
        try:
            reader.sqlite.execute("BEGIN")
        except sqlite3.Error as error:
            self._close(reader)
            raise Unavailable(retry_after=1) from error

    def _begin_pooled(self, reader: Reader) -> None:
        try:
            begin_pooled_read(reader.connection)
        except BaseException:
            self._close(reader)
            raise

    def _end(self, reader: Reader) -> bool:
        """End a transaction, and return whether the connection can be used again."""
        if reader.is_pooled:
            return end_pooled_read(reader.connection)
        try:
            if reader.sqlite is not None and reader.sqlite.in_transaction:
                reader.sqlite.commit()
        except sqlite3.Error:
            return False
        return True

    def _close(self, reader: Reader) -> None:
        self._count(-1)
        # Invalidated first, so that close() sends nothing on a connection that may be broken.
        reader.connection.invalidate()
        reader.connection.close()

    def _count(self, change: int) -> bool:
        """Count an opened or closed connection; return ``False`` if too many would be open."""
        with self._lock:
            if self._open + change > self._size:
                return False
            self._open += change
            return True


class Read:
    """The context manager of :meth:`Database.read`."""

    # A class, because nested generators would cost more than the query of a frequent request.
    __slots__ = ("_engine", "_guard", "_in_transaction", "_ordinary", "_pool", "_reader")

    def __init__(
        self, engine: Engine, pool: ReadPool, guard: OneTransaction, *, in_transaction: bool
    ) -> None:
        self._engine = engine
        self._pool = pool
        self._guard = guard
        self._in_transaction = in_transaction
        self._reader: Reader | None = None
        self._ordinary: AbstractContextManager[Connection] | None = None

    def __enter__(self) -> Connection:
        self._guard.__enter__()
        try:
            # Listeners are registered with the ordinary engine, so it executes all reads while it has
            # any.
            if not is_observed(self._engine):
                self._reader = reader = self._pool.acquire(self._in_transaction)
                if reader is not None:
                    return reader.connection
            self._ordinary = self._engine.begin()
            return self._ordinary.__enter__()
        except BaseException as error:
            self._guard.__exit__()
            raise_translated(error)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._reader is not None:
                self._pool.release(self._reader, error)
            elif self._ordinary is not None:
                self._ordinary.__exit__(kind, error, trace)
        finally:
            self._guard.__exit__()
        if error is not None:
            raise_translated(error)
