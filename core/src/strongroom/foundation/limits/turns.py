"""Requests of a process that wait for each other: a bounded number, for a bounded time."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Final

from strongroom.foundation.errors import Unavailable

POLL_SECONDS: Final = 0.02
"""How often the first request that waits for a subject checks it. Other processes free it, too."""

RETRY_SECONDS: Final = 2
"""Value of Retry-After, in seconds, of a request that waited in vain, or could not wait."""

Attempt = Callable[[], Hashable | None]
"""Does something once; returns the subject that blocks it, or ``None`` if it is done."""

Check = Callable[[], Hashable | None]
"""Returns the subject that blocks an attempt, or ``None``, without changing anything."""


class Turns:
    """Lets requests wait until an attempt is no longer blocked.

    Only one request per subject polls; the others wait for it in the process. So the cost of waiting
    does not grow with their number.

    Args:
        limit: the maximum number of requests that wait.
        on_block: called on the thread of each request before it waits.
    """

    def __init__(self, limit: int, seconds: float, on_block: Callable[[], None] = lambda: None) -> None:
        self._seconds = seconds
        self._on_block = on_block
        self._places = threading.BoundedSemaphore(limit) if limit else None
        self._lock = threading.Lock()
        self._heads: dict[Hashable, threading.Lock] = {}
        self._waiting: Counter[Hashable] = Counter()

    def wait(self, blocker: Hashable, attempt: Attempt, check: Check) -> None:
        """Repeat an attempt until it is done.

        Args:
            blocker: the subject that blocks it now.
            check: a cheaper check, which is repeated instead of the attempt.

        Raises:
            Unavailable: too many requests wait, or the attempt was blocked for too long.
        """
        if self._places is None or not self._places.acquire(blocking=False):
            raise Unavailable(retry_after=RETRY_SECONDS)
        try:
            self._on_block()
            deadline, current = time.monotonic() + self._seconds, blocker
            while current is not None:
                with self._turn(current, deadline):
                    current = _poll(current, attempt, check, deadline)
        finally:
            self._places.release()

    @contextmanager
    def _turn(self, subject: Hashable, deadline: float) -> Iterator[None]:
        """Be the only request of the process that polls for a subject."""
        with self._lock:
            self._waiting[subject] += 1
            head = self._heads.setdefault(subject, threading.Lock())
        try:
            if not head.acquire(timeout=max(0.0, deadline - time.monotonic())):
                raise Unavailable(retry_after=RETRY_SECONDS)
            try:
                yield
            finally:
                head.release()
        finally:
            self._leave(subject)

    def _leave(self, subject: Hashable) -> None:
        with self._lock:
            self._waiting[subject] -= 1
            if not self._waiting[subject]:
                del self._waiting[subject], self._heads[subject]


def _poll(blocker: Hashable, attempt: Attempt, check: Check, deadline: float) -> Hashable | None:
    """Repeat an attempt while a subject blocks it; return the next one that does, or ``None``."""
    current: Hashable | None = blocker
    while current == blocker:
        current = check()
        if current is None:
            current = attempt()
        if current == blocker:
            if time.monotonic() >= deadline:
                raise Unavailable(retry_after=RETRY_SECONDS)
            time.sleep(POLL_SECONDS)
    return current
