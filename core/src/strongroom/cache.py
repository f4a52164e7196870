"""A cache of a bounded size."""

from threading import Lock
from typing import Generic, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class Cache(Generic[KeyT, ValueT]):
    """Keeps the values that were put in last; to look one up takes no lock.

    Args:
        capacity: how many are kept; then the oldest make room.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._lock = Lock()
        self._values: dict[KeyT, ValueT] = {}
        self.get = self._values.get

    def put(self, key: KeyT, value: ValueT) -> None:
        """Keep a value."""
        with self._lock:
            while len(self._values) >= self._capacity:
                del self._values[next(iter(self._values))]
            self._values[key] = value
