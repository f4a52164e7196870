"""The connection that writes to an SQLite database, and a fair lock for it.

A commit invalidates the page caches of all other connections, so all writes of a process use one
connection, whose cache stays valid. It stays open: checking it out of SQLAlchemy's pool, beginning,
committing and returning it would take as much processor time as the statements of a small change.

SQLite itself waits for its write lock by polling with growing sleeps, while other writers can overtake.
So under load, short transactions would wait much longer than they take.
"""

import fcntl
import os
import sqlite3
import threading
from contextlib import suppress
from typing import Any, Final

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from strongroom.foundation.database.compiled import note_observed, translated
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Unavailable

_BEGIN: Final = Statement(text("BEGIN IMMEDIATE"))
# In WAL mode, FULL syncs the log at each commit and NORMAL at checkpoints only.
_SYNC: Final = Statement(text("PRAGMA synchronous = FULL"))
_NO_SYNC: Final = Statement(text("PRAGMA synchronous = NORMAL"))


class WriterLock:
    """A lock of all threads of all processes that write to one database.

    It only improves speed. SQLite's own lock ensures that there is one writer at a time.

    Args:
        database: the path of the database; the lock file is next to it.
        seconds: how long a thread waits for other threads of its process.
    """

    def __init__(self, database: str, seconds: float) -> None:
        self._seconds = seconds
        self._threads = threading.Lock()
        # A separate file: closing a descriptor of the database would release SQLite's locks on it.
        self._path = f"{database}-turn"
        self._file: int | None = None

    def acquire(self) -> None:
        """Wait for the lock.

        Raises:
            Unavailable: other threads did not release it in time.
        """
        # Threads share one descriptor, which flock() treats as one owner, so they need a lock of their
        # own.
        if not self._threads.acquire(timeout=self._seconds):
            raise Unavailable(retry_after=1)
        try:
            # Without a timeout: the system releases the lock of a process that dies.
            fcntl.flock(self._open() if self._file is None else self._file, fcntl.LOCK_EX)
        except OSError:
            # A failure to lock the file costs only speed, so the write proceeds without it.
            pass
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """Give the lock to the next thread or process."""
        try:
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)
        finally:
            self._threads.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    @property
    def is_open(self) -> bool:
        """Whether the lock file is open: whether the lock was ever acquired."""
        return self._file is not None

    def close(self) -> None:
        """Close the lock file; the next :meth:`acquire` opens it again. The caller has the lock."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _open(self) -> int:
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self._file


class _WriteConnection(Connection):
    """A connection in a transaction that SQLAlchemy has not begun, so that it would not roll it back."""

    def rollback(self) -> None:
        super().rollback()
        driver: Any = self.connection.driver_connection
        driver.rollback()


class SqliteWriter:
    """The connection of a process that writes to an SQLite database.

    Args:
        engine: opens the connection; it has no pool, and begins no transactions.
        lock: the lock of the database.
    """

    def __init__(self, engine: Engine, lock: WriterLock) -> None:
        self._engine = engine
        self._lock = lock
        self._connection: Connection | None = None
        self._driver: Any = None
        self._is_durable = True

    def begin(self, durable: bool) -> Connection:
        """Wait for the lock, and begin a transaction.

        Args:
            durable: whether its commit must survive a power failure.
        """
        self._lock.acquire()
        try:
            connection = self._connection or self._connect()
            note_observed(connection)
            events = self._engine.dispatch
            if events.begin or events.commit or events.rollback:
                # SQLAlchemy's own transaction calls its listeners.
                connection.begin()
            if durable != self._is_durable:
                # A setting of the connection, which cannot change within a transaction.
                (_SYNC if durable else _NO_SYNC).execute(connection, {})
                self._is_durable = durable
            _BEGIN.execute(connection, {})
        except BaseException:
            self._discard()
            self._lock.release()
            raise
        return connection

    def end(self, connection: Connection, error: BaseException | None) -> None:
        """Commit or, after an error, roll back."""
        try:
            if error is not None:
                self._roll_back(connection, error)
            elif connection.get_transaction() is None:
                self._driver.commit()
            else:
                # SQLAlchemy began a transaction of its own, for listeners or its own statement.
                connection.commit()
        except sqlite3.Error as failure:
            report = translated(connection, "COMMIT", failure)
            # Closing it rolls back what could not be committed.
            self._discard()
            raise report from failure
        except BaseException:
            self._discard()
            raise
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the connection after the transaction in progress; the next one opens it again."""
        if not self._lock.is_open:
            # Nothing was written. Acquiring the lock would create its file, also by a mere check.
            return
        with self._lock:
            self._discard()
            self._lock.close()

    def _connect(self) -> Connection:
        self._connection = connection = _WriteConnection(self._engine)
        self._driver = connection.connection.driver_connection
        self._is_durable = True
        return connection

    def _roll_back(self, connection: Connection, error: BaseException) -> None:
        try:
            connection.rollback()
        except (DBAPIError, sqlite3.Error):
            self._discard()
        if not isinstance(error, Exception):
            # An interrupt may leave the answer of a statement unread.
            self._discard()

    def _discard(self) -> None:
        connection, self._connection, self._driver = self._connection, None, None
        if connection is not None:
            # Invalidated first, so that close() sends nothing on a connection that may be broken.
            with suppress(DBAPIError, sqlite3.Error):
                connection.invalidate()
                connection.close()
