"""Runs the contract tests of options, routes, discovery and WSGI applications."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.discovery import DiscoveryContract
from strongroom.testing.pages import ConsoleSectionsContract, SpaceSectionsContract
from strongroom.testing.routes import RoutesContract
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.state import OpenedPlugin, OptionsContract, opened_plugin
from strongroom.testing.wsgi import WsgiApplicationContract


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "scim") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    plugins = ["scim", "login_pages", "console"]
    with live_server(tmp_path_factory.mktemp("server"), plugins=plugins) as server:
        yield server


class TestOptions(OptionsContract):
    """The options."""


class TestDiscovery(DiscoveryContract):
    """The metadata of the protected resource."""


class TestRoutes(RoutesContract):
    """The routes for administrators."""

    @pytest.fixture
    def tag(self) -> str:
        return "directories"


class TestApplication(WsgiApplicationContract):
    """The application."""

    @pytest.fixture
    def prefix(self) -> str:
        return "/scim/v2"


class TestPageOfServer(ConsoleSectionsContract):
    """The page of the directories of the server."""

    @pytest.fixture
    def path(self) -> str:
        return "/directories/"


class TestPageOfSpace(SpaceSectionsContract):
    """The page of the directories of a space."""

    @pytest.fixture
    def path(self) -> str:
        return "/directories/of/{tenant}/"
