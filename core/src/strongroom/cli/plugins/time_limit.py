"""A pytest plugin that limits the duration of each test."""

import faulthandler
import os
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

from pluggy import HookimplMarker

_hookimpl = HookimplMarker("pytest")  # pytest itself is imported only where tests are run

_AGAIN_SECONDS: Final = 1.0
_GRACE_SECONDS: Final = 15.0


class TimeLimit:
    """Fails a test that exceeds the limit, and prints the stacks of all threads. Main thread only.

    SIGALRM interrupts waits in Python. It repeats, because an interrupted test may wait again, for
    example for the threads of an executor. If a test hangs in native code, the whole process exits 15
    seconds later, with the stacks on standard error.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._stderr = os.fdopen(os.dup(2), "w")
        self.was_exceeded = False

    @_hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, None, None]:
        with self._limit():
            return (yield)

    @_hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, None, None]:
        with self._limit():
            return (yield)

    @_hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, None, None]:
        with self._limit():
            return (yield)

    @contextmanager
    def _limit(self) -> Iterator[None]:
        previous = signal.signal(signal.SIGALRM, self._exceeded)
        signal.setitimer(signal.ITIMER_REAL, self._seconds, _AGAIN_SECONDS)
        faulthandler.dump_traceback_later(self._seconds + _GRACE_SECONDS, exit=True, file=self._stderr)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)

    def _exceeded(self, _signal: int, _frame: FrameType | None) -> NoReturn:
        import pytest

        if not self.was_exceeded:
            faulthandler.dump_traceback(file=sys.__stderr__ or self._stderr)
        self.was_exceeded = True
        pytest.fail(f"took longer than {self._seconds:g} s; see --timeout", pytrace=True)
