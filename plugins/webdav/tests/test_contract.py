"""Runs the contract tests of options, locks, pages and WSGI applications."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from strongroom.testing.host import FileLocksContract
from strongroom.testing.pages import SessionPagesContract
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.state import OpenedPlugin, OptionsContract, opened_plugin
from strongroom.testing.wsgi import WsgiApplicationContract


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    with opened_plugin(tmp_path, "webdav") as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=["webdav", "login_pages"]) as server:
        yield server


class TestOptions(OptionsContract):
    """The options."""


class TestFileLocks(FileLocksContract):
    """The locks, which all interfaces heed."""


class TestDrivePage(SessionPagesContract):
    """The page "Connect your computer"."""

    @pytest.fixture
    def path(self) -> str:
        return "/network-drives/"


class TestApplication(WsgiApplicationContract):
    """The application."""

    @pytest.fixture
    def prefix(self) -> str:
        return "/dav"
