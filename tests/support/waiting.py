"""Waiting for what other processes do in their own time."""

import time
from collections.abc import Callable

PATIENCE_SECONDS = 30


def wait_until(condition: Callable[[], bool], seconds: float = PATIENCE_SECONDS) -> None:
    """Return once something holds.

    Raises:
        AssertionError: it does not within so many seconds.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it does not come about"
        time.sleep(0.02)
