"""Connections and transactions.

Services open a transaction where a request's work begins and hand the connection on, so that what
must happen together does. ``read`` and ``write`` differ on SQLite: a writer takes the write lock at
once, so that it never finds, half way, that somebody else was faster.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import DBAPIError, OperationalError

from strongroom.errors import Unavailable

_BUSY_SECONDS = 30
_WRITING = "strongroom_writing"


class Database:
    """The database of one process.

    Args:
        url: ``sqlite:///FILE`` or ``postgresql+psycopg://...``.
        pool_size: connections kept open; as many more are opened under load.
    """

    def __init__(self, url: str, *, pool_size: int = 16) -> None:
        self.engine = (
            _sqlite_engine(url, pool_size) if url.startswith("sqlite") else _engine(url, pool_size)
        )
        self._writer = self.engine.execution_options(**{_WRITING: True})

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that changes nothing.

        Raises:
            Unavailable: the database does not answer.
        """
        with _unavailable_when_away(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that is durable once the block is left, and void if it raises.

        Raises:
            Unavailable: the database does not answer.
        """
        with _unavailable_when_away(), self._writer.begin() as connection:
            yield connection

    def close(self) -> None:
        """Close every connection."""
        self.engine.dispose()


def _engine(url: str, pool_size: int) -> Engine:
    return create_engine(url, pool_size=pool_size, max_overflow=pool_size, pool_pre_ping=True)


def _sqlite_engine(url: str, pool_size: int) -> Engine:
    path = make_url(url).database
    if not path or path == ":memory:":
        raise ValueError("an SQLite database must be a file: each connection in memory has its own")
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    # The driver's own transactions begin too late; _begin_sqlite begins them instead.
    connection.isolation_level = None
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "cache_size = -8000",
        "temp_store = MEMORY",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: Connection) -> None:
    writing = connection.get_execution_options().get(_WRITING, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def _unavailable_when_away() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        raise Unavailable(retry_after=1) from error
    except DBAPIError as error:
        if error.connection_invalidated:
            raise Unavailable(retry_after=1) from error
        raise
