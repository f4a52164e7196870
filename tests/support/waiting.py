"""Waiting for what other processes do in their own time."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 120
SLACK_SECONDS = 20
"""What a busy machine may add to a time limit; without the limit, the test would wait for longer."""

STALL_SECONDS = 300


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    """Return once something holds.

    Raises:
        AssertionError: it does not within so many seconds.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not come about"
        time.sleep(0.02)


def wait_for_progress(
    condition: Callable[[], bool], progress: Callable[[], object], stall_seconds: float = STALL_SECONDS
) -> None:
    """Return once something holds, however long it takes on a busy machine.

    Args:
        condition: whether it holds.
        progress: a value that changes as long as the work continues.
        stall_seconds: how long the value may stay the same.

    Raises:
        AssertionError: the work has stalled.
    """
    last, deadline = progress(), time.monotonic() + stall_seconds
    while not condition():
        if (current := progress()) != last:
            last, deadline = current, time.monotonic() + stall_seconds
        assert time.monotonic() < deadline, f"no progress since {last}"
        time.sleep(0.02)
