"""Calls several functions at the same time, with one time limit."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Final, Generic, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS: Final = 2.0
"""The time after which a function that has not returned is left alone."""


class BoundedCalls(Generic[T]):
    """Calls functions concurrently. One that hangs blocks one thread, and is not called again meanwhile.

    Only new calls are waited for, so a function that hangs delays one of many results.

    Args:
        patience: the time limit in seconds.
        thread_name: the prefix of the names of the threads.
    """

    def __init__(
        self, functions: Mapping[str, Callable[[], T]], patience: float, thread_name: str
    ) -> None:
        self._functions = functions
        self._patience = patience
        self._pool = ThreadPoolExecutor(max(1, len(functions)), thread_name_prefix=thread_name)
        self._running: dict[str, Future[T]] = {}
        self._lock = Lock()

    def results(self) -> Mapping[str, Future[T] | None]:
        """Return the finished call of each function, or ``None`` for one that has not returned."""
        with self._lock:
            idle = self._functions.keys() - self._running.keys()
            new = {name: self._pool.submit(self._functions[name]) for name in idle}
            wait(new.values(), self._patience)
            self._running |= new
            done = {name: future for name, future in self._running.items() if future.done()}
            # Calls that hang stay registered, so that the next report does not start them again.
            for name in done:
                del self._running[name]
            return {name: done.get(name) for name in self._functions}

    def close(self) -> None:
        """Stop the threads, without waiting for calls that hang."""
        self._pool.shutdown(wait=False, cancel_futures=True)
