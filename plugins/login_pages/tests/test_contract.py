"""The plugin's tables, jobs and options satisfy their contracts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.state import (
    DeactivationsContract,
    OpenedPlugin,
    OptionsContract,
    PruneStepsContract,
    TablesContract,
    opened_plugin,
)


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "login_pages") as opened:
        yield opened


class TestOptions(OptionsContract):
    """The options."""


class TestTables(TablesContract):
    """The table."""


class TestDeactivations(DeactivationsContract):
    """The end of login codes."""


class TestPruneSteps(PruneStepsContract):
    """What expires."""
