"""A fair lock for writing to SQLite, which has one writer at a time.

SQLite itself waits for its write lock by polling with growing sleeps, while other writers can overtake.
So under load, short transactions would wait much longer than they take.
"""

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from strongroom.foundation.errors import Unavailable


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

    @contextmanager
    def acquire(self) -> Iterator[None]:
        """Hold the lock until the block ends.

        Raises:
            Unavailable: other threads did not release it in time.
        """
        # Threads share one descriptor, which flock() treats as one owner, so they need a lock of their
        # own.
        if not self._threads.acquire(timeout=self._seconds):
            raise Unavailable(retry_after=1)
        try:
            # A failure to lock the file costs only speed, so the write proceeds without it.
            with suppress(OSError):
                self._lock()
            yield
        finally:
            if self._file is not None:
                fcntl.flock(self._file, fcntl.LOCK_UN)
            self._threads.release()

    def close(self) -> None:
        """Close the lock file; the next :meth:`acquire` opens it again."""
        with self._threads:
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _lock(self) -> None:
        if self._file is None:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        # Without a timeout: the system releases the lock of a process that dies.
        fcntl.flock(self._file, fcntl.LOCK_EX)
