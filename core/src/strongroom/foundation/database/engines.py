"""The engines of a database: for each use, a SQLAlchemy engine with the settings that it needs."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.pool import NullPool

from strongroom.foundation.cache import BuiltOnce
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

_ASYNC_COMMIT: Final = "SET LOCAL synchronous_commit = off"
_READ_ONLY: Final = "SET TRANSACTION READ ONLY"
_RESTORE_LIMIT: Final = Statement(text("SET LOCAL statement_timeout TO DEFAULT"))


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
        return _of_postgresql(url, pool_size, timeout_seconds, read_only=read_only)
    if read_only:
        return Engines(
            read_only_sqlite_engine(url),
            read_only_sqlite_reading_engine(url),
            read_only_sqlite_writing_engine(url),
        )
    return Engines(sqlite_engine(url, pool_size), sqlite_reading_engine(url), sqlite_writing_engine(url))


def close_engine(engine: Engine) -> None:
    """Close the idle connections of an engine, and each other one when it is returned.

    The engine closes only those that are idle.
    """
    pool = engine.pool
    engine.dispose()
    event.listen(pool, "checkin", lambda connection, _: connection and connection.close())


def _of_postgresql(
    url: str, pool_size: int, timeout_seconds: float | None, *, read_only: bool
) -> Engines:
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=timeout_seconds or POOL_SECONDS,
        # A ping per checkout detects connections that a restarted server has closed.
        pool_pre_ping=True,
        hide_parameters=True,
    )
    event.listen(engine, "begin", partial(_begin, read_only=read_only))
    connector = _bound(engine, timeout_seconds)
    return Engines(engine, _reading_engine(url, connector), engine, connector)


def open_standby(
    url: str, timeout_seconds: float | None, cluster: Callable[[], str | None]
) -> "tuple[Engine, Connector]":
    """Return an engine for reading from a standby, and what opens its connections."""
    from strongroom.foundation.database.postgresql import StandbyConnector

    connector = StandbyConnector(_parameters(create_engine(url)), timeout_seconds, cluster)
    # A statement that is repeated on another connection might reach a standby that lags behind.
    return _reading_engine(url, connector, is_repeatable=False), connector


def _bound(engine: Engine, timeout_seconds: float | None) -> "Connector":
    """Make an engine open connections whose statements have a time limit."""
    # Imported here because psycopg is installed only for PostgreSQL.
    from strongroom.foundation.database.postgresql import Connector

    connector = Connector(_parameters(engine), timeout_seconds)
    event.listen(engine, "do_connect", lambda *_: connector.connect())
    return connector


def _parameters(engine: Engine) -> dict[str, Any]:
    """Return the parameters of the driver from an engine's URL."""
    _, parameters = engine.dialect.create_connect_args(engine.url)
    return dict(parameters)


def _reading_engine(url: str, connector: "Connector", *, is_repeatable: bool = True) -> Engine:
    engine = create_engine(
        url,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        # Database.read passes no statements to this engine while there are listeners.
        execution_options={UNOBSERVED: True, **({REPEATABLE: True} if is_repeatable else {})},
        hide_parameters=True,
    )
    event.listen(engine, "do_connect", lambda *_: _connect_reader(connector))
    return engine


def _connect_reader(connector: "Connector") -> Any:
    connection = connector.connect(autocommit=True)
    if not connection.is_pooled:
        connection.execute("SET default_transaction_read_only = on")
    return connection


def begin_pooled_read(connection: Connection) -> None:
    """Begin a transaction of a connection in autocommit mode through a pooler.

    A direct connection needs none: its session refuses to write, and has the time limit.
    """
    driver: Any = connection.connection.driver_connection
    begin = f"{driver.begin}; {_READ_ONLY}"
    _settings(begin, driver.statement_milliseconds).execute(connection, {})


def end_pooled_read(connection: Connection) -> bool:
    """End the transaction of a pooled read; return whether the connection can be used again."""
    if connection.invalidated:
        return False
    driver: Any = connection.connection.driver_connection
    try:
        # Sends nothing if there is no transaction.
        driver.rollback()
    except connection.dialect.loaded_dbapi.Error:
        return False
    return True


def restore_limit(connection: Connection) -> None:
    """Set the ordinary time limit of a statement for the rest of a transaction."""
    driver: Any = connection.connection.driver_connection
    if driver.is_pooled:
        _settings("", driver.statement_milliseconds).execute(connection, {})
    else:
        _RESTORE_LIMIT.execute(connection, {})


def _begin(connection: Connection, *, read_only: bool) -> None:
    note_observed(connection)
    settings = [_READ_ONLY] if read_only else []
    if connection.get_execution_options().get(LAZY):
        settings.append(_ASYNC_COMMIT)
    driver: Any = connection.connection.driver_connection
    if driver.is_pooled:
        _settings("; ".join(settings), driver.statement_milliseconds).execute(connection, {})
    elif settings:
        _plain("; ".join(settings)).execute(connection, {})


@BuiltOnce
def _settings(begin: str, milliseconds: int) -> Statement[Any]:
    """Return the settings of a transaction through a pooler, which take one round trip."""
    # JIT as in a direct session, see NO_JIT.
    limits = f"SET LOCAL statement_timeout = {milliseconds}; SET LOCAL jit = off"
    return Statement(text(f"{begin}; {limits}" if begin else limits))


@BuiltOnce
def _plain(settings: str) -> Statement[Any]:
    return Statement(text(settings))
