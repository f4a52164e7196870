"""A thread-safe cache of bounded size."""

from threading import Lock
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Cache(Generic[KeyT, ValueT]):
    """A FIFO cache whose reads take no lock.

    Args:
        capacity: the maximum number of values; beyond it, the oldest is evicted.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._values: dict[KeyT, ValueT] = {}
        # A single dict operation is atomic, so readers need no lock.
        self.get = self._values.get

    def put(self, key: KeyT, value: ValueT) -> None:
        """Store a value, and evict the oldest if the cache is full."""
        with self._lock:
            while len(self._values) >= self._capacity:
                del self._values[next(iter(self._values))]
            self._values[key] = value
