"""Limits the bandwidth of background work."""

import time
from collections.abc import Callable
from threading import Lock


class BandwidthLimiter:
    """Delays threads so that together they stay below a rate of bytes.

    Args:
        bytes_per_second: the rate; ``None`` is unlimited.
        now: returns the time in seconds.
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
        """Account for bytes that were just transferred, and sleep until they are within the rate."""
        if self._rate is None:
            return
        with self._lock:
            now = self._now()
            self._free_at = max(self._free_at, now) + size / self._rate
            wait = self._free_at - now
        # Sleep without the lock, so that other threads can reserve their share in the meantime.
        self._sleep(wait)
