"""Runs the contract tests of options, tables, routes and commands."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from strongroom.testing.commands import CommandsContract
from strongroom.testing.routes import RoutesContract
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.state import OpenedPlugin, OptionsContract, TablesContract, opened_plugin


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "oidc_provider") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=["oidc_provider"]) as server:
        yield server


class TestOptions(OptionsContract):
    """The options."""


class TestTables(TablesContract):
    """The tables."""


class TestRoutes(RoutesContract):
    """The routes."""

    @pytest.fixture
    def tag(self) -> str:
        return "clients"


class TestCommands(CommandsContract):
    """The commands."""

    @pytest.fixture
    def commands(self) -> Sequence[str]:
        return ["clients"]
