"""Holds work to a rate of bytes."""

import time
from collections.abc import Callable
from threading import Lock


class BandwidthLimiter:
    """Makes threads wait so that together they move no more than a number of bytes a second.

    Args:
        bytes_per_second: the rate; ``None`` holds nothing back.
        now: tells the time in seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        bytes_per_second: int | None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._rate = bytes_per_second
        self._now = now
        self._sleep = sleep
        self._lock = Lock()
        self._free_at = 0.0

    def consume(self, size: int) -> None:
        """Return when bytes that have just been moved are within the rate."""
        if self._rate is None:
            return
        with self._lock:
            now = self._now()
            self._free_at = max(self._free_at, now) + size / self._rate
            wait = self._free_at - now
        self._sleep(wait)
