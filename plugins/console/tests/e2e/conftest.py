"""A server with the console, and a user of it in front of Chromium."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from tests.support.console_desk import Desk, desk_at

from strongroom.testing.server import LiveServer, live_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    plugins = ["login_pages", "console"]
    with live_server(tmp_path_factory.mktemp("console"), plugins=plugins) as server:
        yield server


@pytest.fixture
def desk(server: LiveServer, browser: Browser) -> Iterator[Desk]:
    with desk_at(server, browser) as desk:
        yield desk
