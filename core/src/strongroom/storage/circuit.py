"""A circuit that opens when a storage is away, so that nobody waits for it in vain."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from strongroom.clock import Clock
from strongroom.plugin_api.storage import StorageError, StorageUnavailable

FAILURES_TO_OPEN: Final = 5
"""Failures in a row after which a storage is taken for away."""

OPEN_MILLISECONDS: Final = 3000
"""For how long it is left alone; then one call at a time tries whether it is back."""


class Circuit:
    """Lets calls through to a storage that answers, and refuses them at once to one that does not.

    It is shared by the threads of a process; each process has its own.

    Args:
        name: of the storage, for messages.
        clock: the time.
    """

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._lock = Lock()
        self._failures = 0
        self._closed_again_at = 0
        self.observe: Callable[[bool], None] = lambda _is_open: None
        """Is told whenever the circuit opens or closes."""

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Run the block, which calls the storage, unless the circuit is open.

        Only :class:`StorageUnavailable` speaks against the storage. Any other of its errors is an
        answer; what is no error of a storage (a client that breaks off) says nothing.

        Raises:
            StorageUnavailable: the circuit is open; ``retry_after`` tells how long yet.
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
        """Take note that the storage did not answer."""
        with self._lock:
            self._failures += 1
            if self._failures == FAILURES_TO_OPEN:
                self.observe(True)
            if self._failures >= FAILURES_TO_OPEN:
                self._closed_again_at = self._clock.now() + OPEN_MILLISECONDS

    def _enter(self) -> None:
        with self._lock:
            if self._failures < FAILURES_TO_OPEN:
                return
            left = self._closed_again_at - self._clock.now()
            # A clock that was set back must not keep the circuit open.
            if 0 < left <= OPEN_MILLISECONDS:
                message = f'the storage "{self._name}" does not answer, and is left alone for a while'
                raise StorageUnavailable(message, retry_after=-(-left // 1000))
            # This call tries; until it has ended, or has taken as long, the others are refused.
            self._closed_again_at = self._clock.now() + OPEN_MILLISECONDS

    def _succeeded(self) -> None:
        with self._lock:
            if self._failures >= FAILURES_TO_OPEN:
                self.observe(False)
            self._failures = 0
