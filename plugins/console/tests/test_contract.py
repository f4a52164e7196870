"""The console passes the contract tests of pages with a session and of mounted applications."""

from collections.abc import Iterator

import pytest

from strongroom.testing.pages import (
    ConsoleSectionsContract,
    SessionPagesContract,
    SpaceSectionsContract,
)
from strongroom.testing.server import LiveServer, live_server
from strongroom.testing.wsgi import WsgiApplicationContract


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    plugins = ["login_pages", "console"]
    with live_server(tmp_path_factory.mktemp("server"), plugins=plugins) as server:
        yield server


class TestHome(SessionPagesContract):
    @pytest.fixture
    def path(self) -> str:
        return "/console/"


class TestSections(ConsoleSectionsContract):
    @pytest.fixture
    def path(self) -> str:
        return "/console/server/users/"


class TestSpaceSections(SpaceSectionsContract):
    @pytest.fixture
    def path(self) -> str:
        return "/console/tenants/{tenant}/settings/"


class TestSectionsOfMembers(SpaceSectionsContract):
    @pytest.fixture
    def path(self) -> str:
        return "/console/tenants/{tenant}/usage/"

    @pytest.fixture
    def sees_members(self) -> bool:
        return True


class TestApplication(WsgiApplicationContract):
    private = False  # without a session, a browser is led to the login page

    @pytest.fixture
    def prefix(self) -> str:
        return "/console"
