"""Prefetches items concurrently, because a remote store has high latency and high throughput."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

IN_FLIGHT: Final = 4
AHEAD: Final = 2 * IN_FLIGHT
"""Number of items to look ahead, so that a slow item does not leave the other threads idle."""

T = TypeVar("T")
R = TypeVar("R")


def work_ahead(
    items: Iterable[T], is_wanted: Callable[[T], bool], work: Callable[[T], R]
) -> Generator[tuple[T, Future[R] | None]]:
    """Yield the items in order, with the futures of those that are prefetched.

    Closing the generator does not block: work that has not started is cancelled.

    Args:
        items: the items; up to ``AHEAD`` more are consumed than yielded.
        is_wanted: whether an item is prefetched.
        work: the function that prefetches an item, run on a thread.
    """
    pool: ThreadPoolExecutor | None = None
    waiting: deque[tuple[T, Future[R] | None]] = deque()
    try:
        for item in items:
            early = None
            if is_wanted(item):
                # Threads are created only if an item needs them.
                pool = pool or ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="ahead")
                early = pool.submit(work, item)
            waiting.append((item, early))
            if len(waiting) > AHEAD:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
