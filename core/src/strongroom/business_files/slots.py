"""Limits the number of concurrently processed pictures, and shares the slots between users."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from typing import Final

from strongroom.errors import Unavailable

WAIT_SECONDS: Final = 5
"""Maximum time to wait for a slot, in seconds: the default time limit of a picture."""

_MAX_WAITING: Final = 16
"""Maximum number of waiting requests. Each blocks a thread, so further ones fail immediately."""


class PictureSlots:
    """Slots for picture processing in one server process.

    With more than one slot, one user never holds all of them. So expensive pictures of one user do not
    block the others.

    Args:
        total: number of slots; 0 means one per core, but at least two.
    """

    def __init__(self, total: int = 0) -> None:
        self._free = total or max(2, os.cpu_count() or 1)
        self._share = max(1, self._free - 1)
        self._waiting = 0
        self._held: Counter[str] = Counter()
        self._changed = Condition()

    @contextmanager
    def slot(self, user: str) -> Iterator[None]:
        """Hold a slot during the block.

        Args:
            user: the user's id; all requests for variants count as one user.

        Raises:
            Unavailable: no slot became free in time, or too many requests are waiting.
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
