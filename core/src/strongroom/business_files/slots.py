"""Bounds how many pictures are worked on at once, and shares the places between users."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Final

from strongroom.errors import Unavailable

WAIT_SECONDS: Final = 5
"""How long a request waits for a slot: no picture is worked on for much longer by default."""

_MAX_WAITING: Final = 16
"""Requests that wait at once. Each holds a thread, so the next is refused at once."""


class PictureSlots:
    """Slots for pictures of one process.

    A user never holds the last slot, so that nobody waits for the expensive pictures of one other.

    Args:
        total: the number of slots; 0: one for each core, and at least two.
    """

    def __init__(self, total: int = 0) -> None:
        self._free = total or max(2, os.cpu_count() or 1)
        self._share = max(1, self._free - 1)
        self._waiting = 0
        self._held: Counter[str] = Counter()
        self._changed = Condition()

    @contextmanager
    def slot(self, user: str) -> Iterator[None]:
        """Hold a slot.

        Args:
            user: who it is for; all requests for variants count as one user.

        Raises:
            Unavailable: none became free in time, or too many wait already.
        """
        self._acquire(user)
        try:
            yield
        finally:
            self._release(user)

    def _acquire(self, user: str) -> None:
        with self._changed:
            if not self._is_free(user):
                self._wait(user)
            self._free -= 1
            self._held[user] += 1

    def _wait(self, user: str) -> None:
        if self._waiting >= _MAX_WAITING:
            raise Unavailable(retry_after=WAIT_SECONDS)
        self._waiting += 1
        try:
            if not self._changed.wait_for(lambda: self._is_free(user), WAIT_SECONDS):
                raise Unavailable(retry_after=WAIT_SECONDS)
        finally:
            self._waiting -= 1

    def _release(self, user: str) -> None:
        with self._changed:
            self._free += 1
            self._held[user] -= 1
            if not self._held[user]:
                del self._held[user]
            self._changed.notify_all()

    def _is_free(self, user: str) -> bool:
        return self._free > 0 and self._held[user] < self._share
