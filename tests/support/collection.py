"""The order of modules, second runs, and the report of a failed test."""

import gc
from collections import Counter
from collections.abc import Generator, Mapping
from itertools import accumulate
from zlib import crc32

import pytest

from tests.support.durations import read_durations
from tests.support.server import OUTPUTS, last_lines

# With the default thresholds, garbage collection takes a third of the processor time: each test makes an
# application, and each collection examines all imported modules.
gc.set_threshold(100_000, 20, 20)

_LAST_SERVER = 0.85
"""The share of the run after which no module with servers begins, so that no worker waits alone."""

_GUESSED_SECONDS = {True: 8.0, False: 0.5}
"""How long a test takes whose module was not measured, by whether it waits for servers.

A module that begins too early costs nothing; one that begins too late ends alone.
"""


@pytest.hookimpl(tryfirst=True)  # before the selection by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark second runs, and order the modules of workers."""
    mark_second_runs(items)
    if hasattr(config, "workerinput"):
        put_longest_first(items, read_durations(config))


def mark_second_runs(items: list[pytest.Item]) -> None:
    """Mark what runs on SQLite as well and does not depend on the database.

    ``make test-all`` has each fourth, all with servers and all campaigns; ``make test-postgresql`` has
    the others.
    """
    names = {item.nodeid for item in items}
    for item in items:
        if is_second_run(item, names) and item.get_closest_marker("both_databases") is None:
            item.add_marker(pytest.mark.extended if is_sampled(item) else pytest.mark.second_run)


def is_sampled(item: pytest.Item) -> bool:
    """Return whether ``make test-all`` has a second run."""
    # The digest is the same in all workers, and on all machines.
    is_fourth = crc32(item.nodeid.encode()) % 4 == 0
    has_servers = "e2e" in item.nodeid.partition("::")[0].split("/")
    return is_fourth or has_servers or item.get_closest_marker("extended") is not None


def is_second_run(item: pytest.Item, names: set[str]) -> bool:
    """Return whether the same test runs on SQLite as well."""
    path, bracket, parameters = item.nodeid.partition("[")
    if not bracket or "postgresql" not in parameters:
        return False
    return path + bracket + parameters.replace("postgresql", "sqlite") in names


def put_longest_first(items: list[pytest.Item], seconds: Mapping[str, float]) -> None:
    """Order the modules, because a worker that began with a long one last would end alone.

    Modules that wait for servers are spread among those that compute. If they came one after the other,
    the workers would compete for the processors first, and would all wait in the end.

    Args:
        seconds: the measured durations of modules.
    """
    modules = [item.nodeid.partition("::")[0] for item in items]
    tests = Counter(modules)
    waiting = {module for module in tests if "e2e" in module.split("/")}
    guesses = {module: size * _GUESSED_SECONDS[module in waiting] for module, size in tests.items()}
    sizes = guesses | {module: seconds[module] for module in tests.keys() & seconds.keys()}
    order = {
        **shares({module: size for module, size in sizes.items() if module not in waiting}),
        **shares({module: size for module, size in sizes.items() if module in waiting}, _LAST_SERVER),
    }
    ordered = sorted(zip(modules, items, strict=True), key=lambda pair: (order[pair[0]], pair[0]))
    items[:] = [item for _, item in ordered]


def shares(sizes: Mapping[str, float], end: float = 1) -> dict[str, float]:
    """Return the share of the run that is before each module, the largest first.

    Args:
        end: the share of the run that they have together.
    """
    largest = sorted(sizes, key=lambda module: -sizes[module])
    before = accumulate((sizes[module] for module in largest), initial=0)
    scale = end / (sum(sizes.values()) or 1)
    return {module: size * scale for module, size in zip(largest, before, strict=False)}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the end of the output of all running servers to the report of a failed test."""
    report = yield
    if report.failed:
        report.sections += [(f"Server {output.name}", last_lines(output)) for output in OUTPUTS]
    return report


def pytest_collection_finish() -> None:
    """Exempt imported modules and collected tests from garbage collection."""
    gc.collect()
    gc.freeze()
