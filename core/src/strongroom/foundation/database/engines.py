"""The engines of a database: for each use, a SQLAlchemy engine with the settings that it needs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.pool import NullPool

from strongroom.foundation.database.compiled import REPEATABLE, UNOBSERVED, note_observed
from strongroom.foundation.database.sqlite_engines import (
    POOL_SECONDS,
    read_only_sqlite_engine,
    read_only_sqlite_reading_engine,
    read_only_sqlite_writing_engine,
    sqlite_engine,
    sqlite_reading_engine,
    sqlite_writing_engine,
)
from strongroom.foundation.database.statements import Statement

if TYPE_CHECKING:
    from strongroom.foundation.database.postgresql import Connector

LAZY = "strongroom_lazy"
"""The option of a transaction on PostgreSQL whose commit need not survive a power failure."""

_ASYNC_COMMIT = Statement(text("SET LOCAL synchronous_commit = off"))


@dataclass(frozen=True, slots=True)
class Engines:
    """The engines of a database.

    Args:
        ordinary: has a pool, for transactions that read and, on PostgreSQL, write.
        reading: its connections refuse to write and have no transactions.
        writing: on SQLite, opens the connection that writes; on PostgreSQL, the ordinary one.
        connector: on PostgreSQL, opens connections whose statements have a time limit.
    """

    ordinary: Engine
    reading: Engine
    writing: Engine
    connector: "Connector | None" = None


def open_engines(url: str, pool_size: int, timeout_seconds: float | None, *, read_only: bool) -> Engines:
    """Return the engines of a database; see :class:`Database`.

    Raises:
        ValueError: an SQLite database is not a file.
    """
    if not url.startswith("sqlite"):
        return _of_postgresql(_read_only(url) if read_only else url, pool_size, timeout_seconds)
    if read_only:
        return Engines(
            read_only_sqlite_engine(url),
            read_only_sqlite_reading_engine(url),
            read_only_sqlite_writing_engine(url),
        )
    return Engines(sqlite_engine(url, pool_size), sqlite_reading_engine(url), sqlite_writing_engine(url))


def _of_postgresql(url: str, pool_size: int, timeout_seconds: float | None) -> Engines:
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=timeout_seconds or POOL_SECONDS,
        # A ping per checkout detects connections that a restarted server has closed.
        pool_pre_ping=True,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin)
    connector = _bound(engine, timeout_seconds)
    return Engines(engine, _reading_engine(url, connector), engine, connector)


def _bound(engine: Engine, timeout_seconds: float | None) -> "Connector":
    """Make an engine open connections whose statements have a time limit."""
    # Imported here because psycopg is installed only for PostgreSQL.
    from strongroom.foundation.database.postgresql import Connector

    _, parameters = engine.dialect.create_connect_args(engine.url)
    connector = Connector(parameters, timeout_seconds)
    event.listen(engine, "do_connect", lambda *_: connector.connect())
    return connector


def _reading_engine(url: str, connector: "Connector") -> Engine:
    engine = create_engine(
        url,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        # Database.read passes no statements to this engine while there are listeners.
        execution_options={REPEATABLE: True, UNOBSERVED: True},
        hide_parameters=True,
    )
    event.listen(engine, "do_connect", lambda *_: _connect_reader(connector))
    return engine


def _connect_reader(connector: "Connector") -> Any:
    connection = connector.connect(autocommit=True)
    connection.execute("SET default_transaction_read_only = on")
    return connection


def _read_only(url: str) -> str:
    """Return the URL of a PostgreSQL database with the option that transactions cannot write."""
    parsed = make_url(url)
    stated = parsed.query.get("options", "")
    options = f"{stated} -c default_transaction_read_only=on".strip()
    return parsed.update_query_dict({"options": options}).render_as_string(hide_password=False)


def _begin(connection: Connection) -> None:
    note_observed(connection)
    if connection.get_execution_options().get(LAZY):
        _ASYNC_COMMIT.execute(connection, {})
