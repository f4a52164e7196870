"""Logs unexpected errors; identical ones at most once a minute, with the number suppressed."""

import logging
import time
import traceback
from collections.abc import Callable
from threading import Lock
from typing import Final

INTERVAL: Final = 60.0
"""Seconds between two log entries of identical errors."""

_CAPACITY: Final = 1024

_Key = tuple[type[BaseException], str, str]


class ErrorLog:
    """Rate-limits identical errors, so that a flood of them neither fills the log nor hides others.

    Two errors are identical if they have the same class and were raised by the same function.

    Args:
        logger: receives the entries.
        now: a monotonic clock in seconds.
    """

    def __init__(self, logger: logging.Logger, now: Callable[[], float] = time.monotonic) -> None:
        self._logger = logger
        self._now = now
        self._lock = Lock()
        # When an error was last logged, and how many identical ones were suppressed since.
        self._seen: dict[_Key, tuple[float, int]] = {}

    def log(self, error: BaseException, message: str, *arguments: object) -> None:
        """Log an error with its traceback, unless an identical one was logged in the last minute."""
        suppressed = self._suppressed(_key(error))
        if suppressed is None:
            return
        if suppressed:
            message += " (%d identical errors were not logged)"
            arguments = (*arguments, suppressed)
        self._logger.error(message, *arguments, exc_info=error)

    def _suppressed(self, key: _Key) -> int | None:
        """Return the number of identical errors suppressed so far, or ``None`` to suppress this one."""
        now = self._now()
        with self._lock:
            # Bounds the memory; clearing only makes some errors appear in the log earlier.
            if len(self._seen) >= _CAPACITY:
                self._seen.clear()
            logged_at, count = self._seen.get(key, (now - INTERVAL, 0))
            if now - logged_at < INTERVAL:
                self._seen[key] = (logged_at, count + 1)
                return None
            self._seen[key] = (now, 0)
            return count


def _key(error: BaseException) -> _Key:
    frames = list(traceback.walk_tb(error.__traceback__))
    code = frames[-1][0].f_code if frames else None
    return type(error), code.co_filename if code else "", code.co_name if code else ""
