"""Waiting for what other processes do in their own time."""

import inspect
import time
from collections.abc import Callable

PATIENCE_SECONDS = 120
SLACK_SECONDS = 20
"""What a busy machine may add to a time limit; without the limit, the test would wait for longer."""

STALL_SECONDS = 300


def wait_until(
    condition: Callable[[], bool],
    seconds: float = PATIENCE_SECONDS,
    *,
    seen: Callable[[], object] | None = None,
) -> None:
    """Return once something holds.

    Args:
        condition: whether it holds.
        seconds: how long to wait.
        seen: returns the state that the condition is about, for the message of a failure.

    Raises:
        AssertionError: it does not hold within so many seconds.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            state = f"; seen at last: {seen()!r}" if seen else ""
            raise AssertionError(f"not within {seconds:g} s: {_source_of(condition)}{state}")
        time.sleep(0.02)


def _source_of(condition: Callable[[], bool]) -> str:
    try:
        return " ".join(inspect.getsource(condition).split())
    except (OSError, TypeError):
        return repr(condition)


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
