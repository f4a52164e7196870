"""Plugins that are opened for their contracts, on PostgreSQL; plugins' own tests use SQLite."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.databases import on_postgresql

from strongroom.testing.state import OpenedPlugin, PruneStepsContract, TablesContract, opened_plugin


@pytest.fixture
def opened(tmp_path: Path, database_url: str) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "webhooks", database_url=database_url) as opened:
        assert opened.services.database.engine.dialect.name == "postgresql"
        yield opened


@on_postgresql
class TestTables(TablesContract):
    """The tables."""


@on_postgresql
class TestPruneSteps(PruneStepsContract):
    """What expires."""
