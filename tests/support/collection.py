"""The order of modules, second runs, and the report of a failed test."""

import gc
from collections import Counter
from collections.abc import Generator

import pytest

from tests.support.server import OUTPUTS, last_lines

# With the default thresholds, garbage collection takes a third of the processor time: each test makes an
# application, and each collection examines all imported modules.
gc.set_threshold(100_000, 20, 20)

LONGEST = (
    "tests/docs/test_pages.py",
    "tests/e2e/test_distributions.py",
    "tests/e2e/test_plugin_kit.py",
    "tests/bench/test_bench.py",
    "tests/e2e/test_storage_migration.py",
    "tests/e2e/test_upgrade_in_place.py",
    "tests/e2e/test_typescript_client.py",
    "tests/rest/test_schema_fuzz.py",
    "tests/e2e/test_release.py",
    "tests/e2e/test_drain.py",
    "tests/e2e/test_cluster.py",
    "tests/docs/test_site.py",
    "tests/e2e/test_directory_listing.py",
    "tests/unit/files/test_tree_machine.py",
    "tests/e2e/test_init.py",
    "tests/e2e/test_scanning.py",
    "tests/e2e/test_first_steps.py",
    "tests/docs/test_contributors.py",
)
"""Modules whose few tests take long."""


@pytest.hookimpl(tryfirst=True)  # before the selection by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark second runs as extended, and give workers the longest modules first, then the largest."""
    mark_second_runs(items)
    if hasattr(config, "workerinput"):
        put_longest_first(items)


def mark_second_runs(items: list[pytest.Item]) -> None:
    """Leave to ``make test-all`` what ran on SQLite and does not depend on the database."""
    names = {item.nodeid for item in items}
    for item in items:
        if is_second_run(item, names) and item.get_closest_marker("both_databases") is None:
            item.add_marker(pytest.mark.extended)


def is_second_run(item: pytest.Item, names: set[str]) -> bool:
    """Return whether the same test runs on SQLite as well."""
    path, bracket, parameters = item.nodeid.partition("[")
    if not bracket or "postgresql" not in parameters:
        return False
    return path + bracket + parameters.replace("postgresql", "sqlite") in names


def put_longest_first(items: list[pytest.Item]) -> None:
    """Order the modules, because a worker that began with a long one last would end alone."""
    modules = [item.nodeid.partition("::")[0] for item in items]
    ranks = {module: rank for rank, module in enumerate(LONGEST)}
    order = {module: (ranks.get(module, len(ranks)), -size) for module, size in Counter(modules).items()}
    ordered = sorted(zip(modules, items, strict=True), key=lambda pair: order[pair[0]])
    items[:] = [item for _, item in ordered]


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
