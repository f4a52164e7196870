"""Reserves the keys of objects in advance, with their pending rows."""

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Lock
from typing import Final

from strongroom.clock import Clock

USABLE_FOR: Final = 10 * 60 * 1000
"""Milliseconds for which a reserved key can be taken: a small part of the time after which garbage
collection takes a pending blob for abandoned."""

_MAX_RESERVED: Final = 32


class ReservedKeys:
    """Keys whose pending rows are committed already.

    Every object needs a pending row before it is written. Reserving the rows of several objects at once
    saves most of these transactions. Garbage collection removes the rows that are never used.

    Args:
        reserve: commits the pending rows of a number of objects, and returns their keys.
    """

    def __init__(self, reserve: Callable[[int], list[str]], clock: Clock) -> None:
        self._reserve = reserve
        self._clock = clock
        self._lock = Lock()
        self._keys: deque[str] = deque()
        self._usable_until = 0
        self._count = 1

    def take(self) -> str:
        """Return a key that no other caller gets; commits a transaction if none is left."""
        # Held during the transaction, too: all other callers would need one as well.
        with self._lock:
            while True:
                if self._clock.now() < self._usable_until:
                    with suppress(IndexError):
                        return self._keys.popleft()
                self._refill()

    def clear(self) -> list[str]:
        """Return the keys that were not taken, and forget them."""
        # Without the lock: within a transaction, it would wait for a refill that waits for the commit.
        unused: list[str] = []
        with suppress(IndexError):
            while True:
                unused.append(self._keys.popleft())
        return unused

    def _refill(self) -> None:
        # Twice as many if the last ones were used in time, otherwise a single one: a server with few
        # uploads leaves few unused rows.
        is_busy = self._clock.now() < self._usable_until
        self._count = min(2 * self._count, _MAX_RESERVED) if is_busy else 1
        until = self._clock.now() + USABLE_FOR
        self._keys = deque(self._reserve(self._count))
        self._usable_until = until
