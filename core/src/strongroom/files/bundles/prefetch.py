"""Does work before its turn, some pieces at once: a store elsewhere answers late, and then fast."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

IN_FLIGHT: Final = 4
AHEAD: Final = 2 * IN_FLIGHT
"""How many items are taken before their turn, so that one that takes long does not hold up the next."""

T = TypeVar("T")
R = TypeVar("R")


def work_ahead(
    items: Iterable[T], is_wanted: Callable[[T], bool], work: Callable[[T], R]
) -> Generator[tuple[T, Future[R] | None]]:
    """Yield the items in their order, with what becomes of those that are worked on early.

    Whoever closes the generator waits for nothing: what has not begun is left out.

    Args:
        items: what is passed through; a few more are taken than were yielded.
        is_wanted: whether an item is worked on early.
        work: the work, done on threads.
    """
    pool: ThreadPoolExecutor | None = None
    waiting: deque[tuple[T, Future[R] | None]] = deque()
    try:
        for item in items:
            early = None
            if is_wanted(item):
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
