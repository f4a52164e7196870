"""Engines for SQLite databases: for all work of a server, and for reading without creating a file."""

import hashlib
import os
import sqlite3
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.pool import NullPool

from strongroom.foundation.database.compiled import REPEATABLE, UNOBSERVED
from strongroom.foundation.database.statements import Statement

WRITING: Final = "strongroom_writing"
"""The option of a connection that takes the write lock when its transaction begins."""

BUSY_SECONDS: Final = 30
"""How long a connection waits for a lock."""

POOL_SECONDS: Final = 10
"""How long a thread waits for a connection."""

_ARGUMENTS: Final = {"timeout": BUSY_SECONDS, "check_same_thread": False}
_READING: Final = {REPEATABLE: True, UNOBSERVED: True}

_BEGIN = Statement(text("BEGIN"))
_BEGIN_WRITING = Statement(text("BEGIN IMMEDIATE"))


def sqlite_engine(url: str, pool_size: int) -> Engine:
    """Return an engine whose transactions can write, one at a time.

    Raises:
        ValueError: the database is not a file.
    """
    engine = _engine(url, pool_size=pool_size, max_overflow=pool_size, pool_timeout=POOL_SECONDS)
    event.listen(engine, "begin", _begin)
    return engine


def sqlite_writing_engine(url: str) -> Engine:
    """Return an engine without a pool that begins no transactions, for :class:`SqliteWriter`."""
    return _engine(url, poolclass=NullPool)


def _engine(url: str, **options: Any) -> Engine:
    path = _get_path(url)
    engine = create_engine(url, hide_parameters=True, connect_args=_ARGUMENTS, **options)
    event.listen(engine, "do_connect", lambda *_: _make_private(path))
    event.listen(engine, "connect", lambda connection, _: _prepare(connection))
    return engine


def sqlite_reading_engine(url: str) -> Engine:
    """Return an engine without a pool whose connections refuse to write and have no transactions."""
    engine = create_engine(
        url,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        # Database.read passes no statements to this engine while there are listeners.
        execution_options=_READING,
        hide_parameters=True,
        connect_args=_ARGUMENTS,
    )
    event.listen(engine, "connect", lambda connection, _: _prepare_reader(connection))
    return engine


def read_only_sqlite_engine(url: str) -> Engine:
    """Return an engine that creates and changes no file, except the ``-shm`` of a used database."""
    engine = read_only_sqlite_writing_engine(url)
    event.listen(engine, "begin", _begin)
    return engine


def read_only_sqlite_writing_engine(url: str) -> Engine:
    """Return an engine as :func:`sqlite_writing_engine` whose connections refuse to write."""
    path = _get_path(url)
    return create_engine(
        url, creator=lambda: _open_read_only(path), poolclass=NullPool, hide_parameters=True
    )


def read_only_sqlite_reading_engine(url: str) -> Engine:
    """Return an engine as :func:`sqlite_reading_engine` that creates and changes no file."""
    path = _get_path(url)
    return create_engine(
        url,
        creator=lambda: _open_read_only(path),
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        execution_options=_READING,
        hide_parameters=True,
    )


def _prepare_reader(connection: Any) -> None:
    _prepare(connection)
    connection.execute("PRAGMA query_only = ON")


def _get_path(url: str) -> Path:
    path = make_url(url).database
    if not path or path == ":memory:":
        raise ValueError("an SQLite database must be a file; connections do not share one in memory")
    return Path(path)


def _open_read_only(path: Path) -> sqlite3.Connection:
    # Without a write-ahead log, no server has the database open. Then "immutable" keeps SQLite from
    # creating a log and its index, which a connection that cannot write would leave behind.
    immutable = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    address = f"{path.absolute().as_uri()}?mode=ro{immutable}"
    connection = sqlite3.connect(
        address, uri=True, timeout=BUSY_SECONDS, check_same_thread=False, isolation_level=None
    )
    connection.create_function("sha256", -1, _sha256, deterministic=True)
    return connection


def _make_private(path: Path) -> None:
    """Create the database file with mode 0600, and remove the access of others if it exists.

    SQLite creates its ``-wal`` and ``-shm`` files with the mode of the database. Errors are ignored,
    because SQLite reports a missing directory or another user's file when it opens the database.
    """
    with suppress(OSError):
        if not path.exists():
            _create_private(path)
        for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            if file.exists() and file.stat().st_mode & stat.S_IRWXO:
                file.chmod(stat.S_IMODE(file.stat().st_mode) & ~stat.S_IRWXO)


def _create_private(path: Path) -> None:
    # Create a temporary file and link it, instead of opening the database itself: closing a file
    # descriptor of the database would release the fcntl locks that SQLite holds on it in this process.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    os.close(descriptor)
    try:
        os.link(temporary, path)
    finally:
        Path(temporary).unlink()


def _prepare(connection: Any) -> None:
    # By default, sqlite3 begins a transaction only before the first write, so the reads before it
    # would be outside. Autocommit mode leaves BEGIN to the engines.
    connection.isolation_level = None
    for pragma in (
        "journal_mode = WAL",
        # A 201 response promises that the row survives a power failure, so each commit is synced.
        "synchronous = FULL",
        "foreign_keys = ON",
        "cache_size = -8000",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")
    connection.create_function("sha256", -1, _sha256, deterministic=True)


def _sha256(*parts: str | bytes | int) -> str:
    """Return the SHA-256 of the parts in hexadecimal digits; PostgreSQL has a function for it."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part if isinstance(part, bytes) else str(part).encode())
    return digest.hexdigest()


def _begin(connection: Connection) -> None:
    is_writing = connection.get_execution_options().get(WRITING)
    (_BEGIN_WRITING if is_writing else _BEGIN).execute(connection, {})
