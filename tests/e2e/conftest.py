"""Fixtures of tests with real servers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.support.config import Table, declared_config
from tests.support.server import EMAIL, Server, serving, write_config


@pytest.fixture(scope="module")
def config_changes(request: pytest.FixtureRequest) -> Table:
    """The tables of the module's marker ``config``, for the servers that its tests share."""
    return declared_config(request)


@pytest.fixture
def config(tmp_path: Path, database_url: str, config_changes: Table) -> Path:
    """The configuration of a server on a free port, whose database is empty."""
    return write_config(tmp_path, database_url, config_changes)


@pytest.fixture
def server(config: Path) -> Iterator[Server]:
    """A server with one user."""
    with serving(config) as server:
        server.create_user(EMAIL)
        yield server


@pytest.fixture
def client(server: Server) -> Client:
    """A logged-in client of the server."""
    return Client.logged_in(server.url, EMAIL)


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory, config_changes: Table) -> Iterator[Server]:
    """A server with one user on SQLite, for tests of a module that do not disturb each other."""
    folder = tmp_path_factory.mktemp("server")
    config = write_config(folder, f"sqlite:///{folder}/strongroom.sqlite3", config_changes)
    with serving(config) as server:
        server.create_user(EMAIL)
        yield server
