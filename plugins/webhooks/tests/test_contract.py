"""Runs the contract tests of options, tables, jobs and the life cycle."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.metrics import MetricsContract
from strongroom.testing.state import (
    LifeCycleContract,
    OpenedPlugin,
    OptionsContract,
    PruneStepsContract,
    TablesContract,
    TenantErasersContract,
    opened_plugin,
)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "webhooks") as opened:
        yield opened


class TestOptions(OptionsContract):
    """The options."""


class TestTables(TablesContract):
    """The tables."""


class TestPruneSteps(PruneStepsContract):
    """What expires."""


class TestTenantErasers(TenantErasersContract):
    """What goes with tenants."""


class TestMetrics(MetricsContract):
    """The metrics."""


class TestLifeCycle(LifeCycleContract):
    """The start and the stop."""
