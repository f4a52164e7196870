"""Thread-safe caches: of bounded size, and of what is built once."""

from collections.abc import Callable
from functools import update_wrapper
from threading import Lock, RLock
from typing import Any, Final, Generic, ParamSpec, TypeVar

KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")
ParametersT = ParamSpec("ParametersT")

_BUILDING: Final = RLock()
"""One for all functions, because one that is built may call another."""


class BuiltOnce(Generic[ParametersT, ValueT]):
    """A decorator: the function is called once for each tuple of arguments, which are hashable.

    ``functools.cache`` calls it in each thread that arrives before the first call has returned. SQL
    needs a single object: SQLAlchemy refuses a statement with two different CTEs of the same name.
    """

    def __init__(self, function: Callable[ParametersT, ValueT]) -> None:
        update_wrapper(self, function)
        self._function = function
        self._values: dict[Any, ValueT] = {}

    def __call__(self, *arguments: ParametersT.args, **options: ParametersT.kwargs) -> ValueT:
        """Return the value for the arguments."""
        key = (arguments, *options.items()) if options else arguments
        # Hot: a single dict operation is atomic, so calls after the first take no lock.
        if key in self._values:
            return self._values[key]
        with _BUILDING:
            if key not in self._values:
                self._values[key] = self._function(*arguments, **options)
            return self._values[key]

    def cache_clear(self) -> None:
        """Forget all values."""
        self._values.clear()


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


class ContentCache(Generic[KeyT]):
    """A FIFO cache of contents, bounded by their total size.

    Args:
        max_bytes: the maximum of the total size; a content of more than an eighth is not kept.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._size = 0
        self._lock = Lock()
        self._contents: dict[KeyT, bytes] = {}
        self.get = self._contents.get

    def put(self, key: KeyT, content: bytes) -> None:
        """Store a content, and evict the oldest ones that exceed the total."""
        with self._lock:
            if len(content) > self._max_bytes // 8 or key in self._contents:
                return
            self._contents[key] = content
            self._size += len(content)
            while self._size > self._max_bytes:
                self._size -= len(self._contents.pop(next(iter(self._contents))))
