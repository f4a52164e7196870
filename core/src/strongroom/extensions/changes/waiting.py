"""Requests that wait for changes: their number, and what ends their wait."""

import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Final

from strongroom.foundation.database import Database
from strongroom.foundation.errors import Unavailable

CHECK_SECONDS: Final = 0.5
"""How often a waiting request looks for the changes of other processes."""

RETRY_SECONDS: Final = 5
"""The Retry-After of a request that may not wait because too many do."""


class ChangeWaiter:
    """One waiting request; usable by one thread at a time."""

    def __init__(self, tenant_id: str, user_id: str, end: Callable[["ChangeWaiter"], None]) -> None:
        self.tenant_id = tenant_id
        self.user_id = user_id
        self._end = end
        self._changed = threading.Event()

    def wait(self, seconds: float) -> None:
        """Wait for a change of the tenant by this process, or for ``seconds``."""
        self._changed.wait(seconds)
        # Cleared after the wait, before the caller reads: a change in between is read, or ends the
        # next wait.
        self._changed.clear()

    def notify(self) -> None:
        """End the wait, or the next one."""
        self._changed.set()

    def close(self) -> None:
        """Make room for another request; further calls have no effect."""
        self._end(self)


class ChangeWaiters:
    """The waiting requests of a process. A user has at most half of them, so that others find room.

    Args:
        limit: the maximum number of waiting requests.
    """

    def __init__(self, database: Database, limit: int) -> None:
        self._limit = limit
        self._limit_per_user = (limit + 1) // 2
        self._lock = threading.Lock()
        self._waiters: set[ChangeWaiter] = set()
        database.commits.subscribe(self._notify)

    def add(self, tenant_id: str, user_id: str) -> ChangeWaiter:
        """Begin to wait. A change that is committed from now on ends the next wait.

        Raises:
            Unavailable: too many requests wait, or too many of the user.
        """
        waiter = ChangeWaiter(tenant_id, user_id, self._remove)
        with self._lock:
            if self._is_full(user_id):
                raise Unavailable("Too many requests wait for changes.", retry_after=RETRY_SECONDS)
            self._waiters.add(waiter)
        return waiter

    @contextmanager
    def waiting(self, tenant_id: str, user_id: str) -> Iterator[ChangeWaiter]:
        """Wait within a block; see :meth:`add`."""
        waiter = self.add(tenant_id, user_id)
        try:
            yield waiter
        finally:
            waiter.close()

    def _is_full(self, user_id: str) -> bool:
        of_user = sum(waiter.user_id == user_id for waiter in self._waiters)
        return len(self._waiters) >= self._limit or of_user >= self._limit_per_user

    def _remove(self, waiter: ChangeWaiter) -> None:
        with self._lock:
            self._waiters.discard(waiter)

    def _notify(self, topics: Collection[str]) -> None:
        # Without the lock on the common path: no request waits.
        if self._waiters:
            with self._lock:
                changed = [waiter for waiter in self._waiters if waiter.tenant_id in topics]
            for waiter in changed:
                waiter.notify()
