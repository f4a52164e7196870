"""How long each module took on an idle machine, by which :mod:`tests.support.collection` orders modules.

``make test-durations`` writes ``durations.json``, by the expression of markers of a run.
"""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

FILE: Final = Path(__file__).with_name("durations.json")


def read_durations(config: pytest.Config) -> dict[str, float]:
    """Return the seconds of each module in a run of the same tests; empty if there was none."""
    return _read().get(_run(config), {})


def _read() -> dict[str, dict[str, float]]:
    runs: dict[str, dict[str, float]] = json.loads(FILE.read_text())
    return runs


def _run(config: pytest.Config) -> str:
    return str(config.getoption("markexpr"))


class DurationsWriter:
    """Adds up the durations of all tests, of all workers, and writes them at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._run = _run(config)
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test."""
        self._seconds[report.nodeid.partition("::")[0]] += report.duration  # type: ignore[assignment]

    def pytest_sessionfinish(self) -> None:
        """Replace the durations of this run."""
        modules = {module: round(seconds, 1) for module, seconds in sorted(self._seconds.items())}
        FILE.write_text(json.dumps(_read() | {self._run: modules}, indent=1) + "\n")


def pytest_configure(config: pytest.Config) -> None:
    """Measure, if the environment says so, in the process that gets the reports of all workers."""
    if os.environ.get("STRONGROOM_TEST_DURATIONS") == "write" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(DurationsWriter(config))
