"""Fixtures of all tests."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.clock import ManualClock
from tests.support.api import Api
from tests.support.config import Table, write_api_config

pytest_plugins = ["tests.support.databases"]

# With the default thresholds, garbage collection takes a third of the processor time: each test makes an
# application, and each collection examines all imported modules.
gc.set_threshold(100_000, 20, 20)


def pytest_collection_finish() -> None:
    """Exempt imported modules and collected tests from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def config_changes() -> Table:
    """Changes to the configuration; a module or a class overrides this."""
    return {}


@pytest.fixture
def config(tmp_path: Path, database_url: str, config_changes: Table) -> Path:
    """The configuration of :func:`api`, whose database is empty."""
    return write_api_config(tmp_path, database_url, config_changes)


@pytest.fixture
def api(config: Path, clock: ManualClock) -> Iterator[Api]:
    """The REST API in this process, with time standing still."""
    with Api.running(config, clock) as api:
        yield api
