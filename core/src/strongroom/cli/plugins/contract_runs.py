"""Runs the contract tests of a plugin with a time limit, and records their outcomes."""

import faulthandler
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from pluggy import HookimplMarker

from strongroom.plugin_api import Extension

if TYPE_CHECKING:
    import pytest

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


_CONTRACTS = "strongroom.testing."


@dataclass(slots=True)
class ContractRun:
    """The results of contract tests."""

    outcomes: dict[tuple[type[Any] | None, str], Counter[str]] = field(default_factory=dict)
    exit_code: int = 0
    timed_out: bool = False
    version: str = ""

    def get_outcomes(self, extension: type[Any] | None, contract: str) -> Counter[str]:
        """Return the number of tests of the contract by outcome (passed, failed, ...).

        Args:
            extension: the tested extension; ``None`` for the contract of a hook that returns instances.
        """
        return self.outcomes.get((extension, contract), Counter())


def run_contracts(tests: Path, seconds: float) -> ContractRun:
    """Run tests with pytest in this process; pytest prints each test before it starts, and failures.

    pytest uses the configuration of the plugin's project, as if it ran there. So helper modules next
    to the tests and folders of its ``pythonpath`` can be imported.
    """
    import pytest

    recorder, limit = _Recorder(), TimeLimit(seconds)
    options = ["-v", "--no-header", "-p", "no:cacheprovider"]
    recorder.run.exit_code = int(pytest.main([*options, str(tests)], plugins=[recorder, limit]))
    recorder.run.timed_out = limit.was_exceeded
    # Imported only now, because pytest must first be able to rewrite the asserts of the contracts.
    recorder.run.version = import_module("strongroom.testing").CONTRACT_VERSION
    return recorder.run


class _Recorder:
    """A pytest plugin that records the outcomes of contract tests."""

    def __init__(self) -> None:
        self.run = ContractRun()
        self._tested: set[tuple[type[Any] | None, str]] = set()
        self._outcome = "skipped"

    def pytest_runtest_teardown(self, item: "pytest.Item") -> None:
        # The fixtures, and so the tested extension, are known only at teardown.
        contracts = {base.__name__ for base in _bases(item) if base.__module__.startswith(_CONTRACTS)}
        tested = {type(value) for value in _fixtures(item) if isinstance(value, Extension)} | {None}
        self._tested = {(kind, contract) for kind in tested for contract in contracts}

    def pytest_runtest_logreport(self, report: "pytest.TestReport") -> None:
        if report.when == "call" or report.failed:
            self._outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome

    def pytest_runtest_logfinish(self) -> None:
        for key in self._tested:
            self.run.outcomes.setdefault(key, Counter())[self._outcome] += 1
        self._tested, self._outcome = set(), "skipped"


def _bases(item: "pytest.Item") -> tuple[type[Any], ...]:
    cls: type[Any] | None = getattr(item, "cls", None)
    return cls.__mro__ if cls else ()


def _fixtures(item: "pytest.Item") -> list[object]:
    return list(getattr(item, "funcargs", {}).values())
