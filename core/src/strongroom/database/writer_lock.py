"""Lets one writer of a machine after another write to an SQLite database.

SQLite's own way of waiting is to sleep a while and to look again, by when somebody else may have come in
between: short transactions then wait much longer than they take.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from strongroom.errors import Unavailable


class WriterLock:
    """WriterLock of all threads of all processes that write to one database.

    It is for speed alone: that there is one writer at a time is up to SQLite.

    Args:
        database: the file. Beside it lies another one, which is locked.
        seconds: how long a thread waits for others of its process.
    """

    def __init__(self, database: str, seconds: float) -> None:
        self._seconds = seconds
        self._threads = threading.Lock()
        # Not the database's own: to close it would end the locks that SQLite has on it.
        self._path = f"{database}-turn"
        self._file: int | None = None

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Be the one who writes.

        Raises:
            Unavailable: others do not come to an end.
        """
        if not self._threads.acquire(timeout=self._seconds):
            raise Unavailable(retry_after=1)
        try:
            with suppress(OSError):
                self._lock()
            yield
        finally:
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._threads.release()

    def close(self) -> None:
        """Close the file that is locked; it is opened again for the next turn."""
        with self._threads:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _lock(self) -> None:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._file, fcntl.LOCK_EX)
