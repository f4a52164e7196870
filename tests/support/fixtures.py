"""Fixtures of all tests, also of those of plugins."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from strongroom.foundation.database import Database
from strongroom.testing.clock import ManualClock
from tests.support.actors import World, make_world
from tests.support.api import Api
from tests.support.client import Client
from tests.support.config import Table, declared_config, write_api_config
from tests.support.scene import Scene
from tests.support.server import EMAIL, Server, serving, write_config
from tests.support.wechat import Logins, WeChat, wechat

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """An empty database; a test runs on each kind."""
    database = Database(database_url)
    yield database
    database.close()


@pytest.fixture
def config_changes(request: pytest.FixtureRequest) -> Table:
    """The tables of the nearest marker ``config``; overridden where a value needs another fixture."""
    return declared_config(request)


@pytest.fixture
def config(tmp_path: Path, database_url: str, config_changes: Table) -> Path:
    """The configuration of :func:`api`, whose database is empty."""
    return write_api_config(tmp_path, database_url, config_changes)


@pytest.fixture
def api(config: Path, clock: ManualClock) -> Iterator[Api]:
    """The REST API in this process, with time standing still."""
    with Api.running(config, clock) as api:
        yield api


@pytest.fixture
def scene(api: Api) -> Scene:
    """A tenant with its administrator and two members."""
    return Scene(api)


@pytest.fixture
def world(api: Api) -> World:
    """A tenant with each actor."""
    return make_world(api)


@pytest.fixture
def platform() -> Iterator[WeChat]:
    """A simulated WeChat."""
    with wechat() as platform:
        yield platform


@pytest.fixture
def logins(api: Api, platform: WeChat) -> Logins:
    """Users of WeChat who log in."""
    return Logins(api, platform)


@pytest.fixture
def server_config(tmp_path: Path, database_url: str, config_changes: Table) -> Path:
    """The configuration of a server on a free port, whose database is empty."""
    return write_config(tmp_path, database_url, config_changes)


@pytest.fixture
def server(server_config: Path) -> Iterator[Server]:
    """A server with one user, in processes of its own."""
    with serving(server_config) as server:
        server.create_user(EMAIL)
        yield server


@pytest.fixture
def client(server: Server) -> Client:
    """A logged-in client of the server."""
    return Client.logged_in(server.url, EMAIL)


@pytest.fixture(scope="module")
def shared_changes(request: pytest.FixtureRequest) -> Table:
    """The tables of the module's marker ``config``, for the server that its tests share."""
    return declared_config(request)


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory, shared_changes: Table) -> Iterator[Server]:
    """A server with one user on SQLite, for tests of a module that do not disturb each other."""
    folder = tmp_path_factory.mktemp("server")
    config = write_config(folder, f"sqlite:///{folder}/strongroom.sqlite3", shared_changes)
    with serving(config) as server:
        server.create_user(EMAIL)
        yield server


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """Chromium, for all tests of a module."""
    # Most tests need no browser, and its library takes long to import.
    from tests.support.browsers import chromium

    with chromium() as browser:
        yield browser
