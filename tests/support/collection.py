"""The order of modules, second runs, and the report of a failed test."""

import gc
from collections import Counter
from collections.abc import Generator, Mapping
from itertools import accumulate

import pytest

from tests.support.server import OUTPUTS, last_lines

# With the default thresholds, garbage collection takes a third of the processor time: each test makes an
# application, and each collection examines all imported modules.
gc.set_threshold(100_000, 20, 20)

LONGEST = (
    "tests/docs/test_pages.py",
    "plugins/share_links/tests/e2e/test_visitors.py",
    "plugins/login_pages/tests/e2e/test_login_pages.py",
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
    "tests/unit/content/files/test_tree_machine.py",
    "tests/e2e/test_init.py",
    "plugins/scan_clamd/tests/e2e/test_scanning.py",
    "tests/e2e/test_first_steps.py",
    "tests/docs/test_contributors.py",
    "tests/unit/content/files/test_shared_tree_machine.py",
    "tests/unit/content/files/test_expiry_machine.py",
)
"""Modules whose few tests take long."""

_LAST_SERVER = 0.85
"""The share of the run after which no module with servers begins, so that no worker waits alone."""


@pytest.hookimpl(tryfirst=True)  # before the selection by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark second runs as extended, and order the modules of workers."""
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
    """Order the modules, because a worker that began with a long one last would end alone.

    Modules that wait for servers are spread among those that compute. If they came one after the other,
    the workers would compete for the processors first, and would all wait in the end.
    """
    modules = [item.nodeid.partition("::")[0] for item in items]
    sizes, ranks = Counter(modules), {module: rank for rank, module in enumerate(LONGEST)}
    waiting = {module for module in sizes if "e2e" in module.split("/")}
    order = {
        **shares({module: size for module, size in sizes.items() if module not in waiting}),
        # A module with servers takes long, however few tests it has.
        **shares(dict.fromkeys(sorted(waiting), 1), _LAST_SERVER),
    }
    keys = {module: (ranks.get(module, len(ranks)), order[module]) for module in sizes}
    ordered = sorted(zip(modules, items, strict=True), key=lambda pair: keys[pair[0]])
    items[:] = [item for _, item in ordered]


def shares(sizes: Mapping[str, int], end: float = 1) -> dict[str, float]:
    """Return the share of the run that is before each module, the largest first.

    Args:
        end: the share of the run that they have together.
    """
    largest = sorted(sizes, key=lambda module: -sizes[module])
    before = accumulate((sizes[module] for module in largest), initial=0)
    scale = end / max(1, sum(sizes.values()))
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
