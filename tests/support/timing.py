"""Compares the durations of two actions on a busy machine; a clock that shows each reading."""

import gc
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from strongroom.testing.clock import ManualClock

IS_IDLE: Final = bool(os.environ.get("STRONGROOM_TEST_TIMING"))
"""Whether nothing else runs, as in ``make test-timing``, so that tight limits of times hold."""

Action = Callable[[], object]

MARGIN_SECONDS = 0.0004
"""A difference too small to measure across a network; smaller ones are ignored."""

_CERTAINTY = 4.0
"""Standard deviations: by chance alone, one run in thirty thousand is flagged."""


def differences(first: Action, second: Action, settle: Action, *, pairs: int, tries: int) -> list[float]:
    """Return by how many seconds the first took longer, pair by pair.

    Before each action, ``settle`` brings all to rest; its time does not count.
    """
    with _no_collection():
        return [_difference(first, second, settle, tries, n) for n in range(pairs)]


def differs(found: Sequence[float]) -> bool:
    """Return whether the median of paired differences lies beyond the margin, for certain.

    A sign test on either side: it looks at the order alone, so that outliers weigh no more than others.
    """
    longer = sum(value > MARGIN_SECONDS for value in found)
    shorter = sum(value < -MARGIN_SECONDS for value in found)
    by_chance = len(found) / 2 + _CERTAINTY * math.sqrt(len(found)) / 2
    return max(longer, shorter) > by_chance


def busy_wait(seconds: float) -> None:
    """Take that long without giving the processor away."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _difference(first: Action, second: Action, settle: Action, tries: int, round_: int) -> float:
    # The fastest of a few tries was disturbed least; each action is the first one equally often, so
    # that a spell of load meets both.
    times = {first: math.inf, second: math.inf}
    for turn in range(round_, round_ + tries):
        for action in (first, second) if turn % 2 else (second, first):
            settle()
            times[action] = min(times[action], _seconds(action))
    return times[first] - times[second]


def _seconds(action: Action) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class TickingClock(ManualClock):
    """Advances by a millisecond with each reading."""

    def now(self) -> int:
        self.advance(1)
        return super().now()
