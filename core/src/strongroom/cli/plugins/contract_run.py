"""Runs a plugin's tests, and records the contract and the extension of each test."""

from collections import Counter
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from strongroom.cli.plugins.time_limit import TimeLimit
from strongroom.plugin_api import Extension

if TYPE_CHECKING:
    import pytest

_CONTRACTS = "strongroom.testing."


@dataclass(slots=True)
class ContractRun:
    """The results of contract tests."""

    outcomes: dict[tuple[type[Any], str], Counter[str]] = field(default_factory=dict)
    exit_code: int = 0
    timed_out: bool = False
    version: str = ""

    def outcomes_of(self, extension: type[Any], contract: str) -> Counter[str]:
        """Return the number of tests of the contract by outcome (passed, failed, ...)."""
        return self.outcomes.get((extension, contract), Counter())


def run_contracts(tests: Path, seconds: float) -> ContractRun:
    """Run tests with pytest in this process; pytest prints each test before it starts, and failures.

    pytest uses the configuration of the plugin's project, as if it ran there. So helper modules next
    to the tests and folders of its ``pythonpath`` can be imported.

    Args:
        tests: the folder of the tests.
        seconds: the timeout of each test.
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
        self._tested: set[tuple[type[Any], str]] = set()
        self._outcome = "skipped"

    def pytest_runtest_teardown(self, item: "pytest.Item") -> None:
        # The fixtures, and so the tested extension, are known only at teardown.
        contracts = {base.__name__ for base in _bases(item) if base.__module__.startswith(_CONTRACTS)}
        tested = {type(value) for value in _fixtures(item) if isinstance(value, Extension)}
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
