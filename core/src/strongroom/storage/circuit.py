"""A circuit breaker for a storage: while it is open, calls fail at once instead of timing out."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from strongroom.clock import Clock
from strongroom.plugin_api.storage import StorageError, StorageUnavailable

FAILURES_TO_OPEN: Final = 5
"""Consecutive failures after which the circuit opens."""

OPEN_MILLISECONDS: Final = 3000
"""How long an open circuit refuses all calls; after that, one call at a time probes the storage."""


class Circuit:
    """Passes calls to a storage while it responds, and refuses them while it is unavailable.

    Shared by the threads of a process; each process has its own.

    Args:
        name: the name of the storage, for messages.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._probe_at = 0
        self.observe: Callable[[bool], None] = lambda _is_open: None
        """Called with whether the circuit is open, each time that it opens or closes."""

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Run the block, which calls the storage, unless the circuit is open.

        Only :class:`StorageUnavailable` counts as a failure. Any other :class:`StorageError` is a
        response of the storage and counts as a success. Other exceptions, such as a client that
        disconnects, count as neither.

        Raises:
            StorageUnavailable: the circuit is open; ``retry_after`` is the remaining time in seconds.
        """
        self._enter()
        try:
            yield
        except StorageUnavailable:
            self.failed()
            raise
        except StorageError:
            self._succeeded()
            raise
        self._succeeded()

    def failed(self) -> None:
        """Count a failure: the storage did not respond."""
        with self._lock:
            self._failures += 1
            if self._failures == FAILURES_TO_OPEN:
                self.observe(True)
            if self._failures >= FAILURES_TO_OPEN:
                self._probe_at = self._clock.now() + OPEN_MILLISECONDS

    def _enter(self) -> None:
        with self._lock:
            if self._failures < FAILURES_TO_OPEN:
                return
            left = self._probe_at - self._clock.now()
            # The upper bound keeps a clock that was set back from holding the circuit open.
            if 0 < left <= OPEN_MILLISECONDS:
                message = f'the storage "{self._name}" is unavailable; it is retried in a few seconds'
                # Negating twice rounds up to whole seconds.
                raise StorageUnavailable(message, retry_after=-(-left // 1000))
            # This call probes the storage; the others are refused until it ends or takes too long.
            self._probe_at = self._clock.now() + OPEN_MILLISECONDS

    def _succeeded(self) -> None:
        with self._lock:
            if self._failures >= FAILURES_TO_OPEN:
                self.observe(False)
            self._failures = 0
