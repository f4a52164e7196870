"""Connections and transactions.

Services open a transaction where a request's work begins and hand the connection on, so that what
must happen together does. ``read`` and ``write`` differ on SQLite: a writer takes the write lock at
once, so that it never finds, half way, that somebody else was faster.
"""

import logging
import os
import sqlite3
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from strongroom.database.group_commit import GroupCommit
from strongroom.database.statements import Statement
from strongroom.database.writer_lock import WriterLock
from strongroom.errors import StorageFull, Unavailable

if TYPE_CHECKING:
    from strongroom.database.postgresql import Connector

T = TypeVar("T")

logger = logging.getLogger(__name__)

_BUSY_SECONDS = 30
_POOL_SECONDS = 10
_AWAY_ON_SQLITE = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN})
_DEADLOCK = "40P01"
_DISK_FULL: Final = "53100"
_WRITING = "strongroom_writing"
_SQLITE_ARGUMENTS = {"timeout": _BUSY_SECONDS, "check_same_thread": False}
_LAZY = "strongroom_lazy"

_BEGIN = Statement(text("BEGIN"))
_BEGIN_WRITING = Statement(text("BEGIN IMMEDIATE"))
_SYNC = Statement(text("PRAGMA synchronous = FULL"))
_SYNC_LATER = Statement(text("PRAGMA synchronous = NORMAL"))
_DO_NOT_WAIT = Statement(text("SET LOCAL synchronous_commit = off"))


class Database:
    """The database of one process.

    Args:
        url: ``sqlite:///FILE`` or ``postgresql+psycopg://...``.
        pool_size: connections kept open; as many more are opened under load.
        timeout_seconds: how long PostgreSQL may take for a statement, or ``None`` for any time.

    A thread has one transaction at a time: one within another could wait for a connection, or for a
    lock, that only itself will ever give back.
    """

    def __init__(self, url: str, *, pool_size: int = 16, timeout_seconds: float | None = None) -> None:
        self._of_thread = threading.local()
        is_sqlite = url.startswith("sqlite")
        self.engine = (
            _sqlite_engine(url, pool_size)
            if is_sqlite
            else _engine(url, pool_size, timeout_seconds or _POOL_SECONDS)
        )
        self._connector = None if is_sqlite else _bound(self.engine, timeout_seconds)
        # What one connection to SQLite has written, all others have to read again, and there is but
        # one writer at a time: so all writing goes through one.
        self._writing_engine = _sqlite_engine(url, 1) if is_sqlite else self.engine
        self._writer = self._writing_engine.execution_options(**{_WRITING: True})
        self._lazy_writer = self._writing_engine.execution_options(**{_WRITING: True, _LAZY: True})
        self._together = GroupCommit(self._writing) if is_sqlite else None
        self._writer_lock = (
            WriterLock(self.engine.url.database or "", _BUSY_SECONDS) if is_sqlite else None
        )

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that changes nothing.

        Raises:
            Unavailable: the database does not answer.
        """
        with self._only_one(), self._answering(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """Open a transaction that is durable once the block is left, and void if it raises.

        Args:
            durable: whether it must outlast a loss of power from then on. One that need not outlasts
                the end of any process, and any durable one that comes after it makes it so as well.

        Raises:
            Unavailable: the database does not answer.
        """
        with self._only_one(), self._writing(durable) as connection:
            yield connection

    def write_together(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Do work in a transaction as of :meth:`write`, and return what it returns.

        On SQLite, what other threads want at the same moment is done in the same transaction, so that
        they wait for the disk once; PostgreSQL does so by itself. The work may run in another thread.

        Raises:
            Unavailable: the database does not answer.
        """
        with self._only_one():
            if self._together is not None:
                return self._together.run(work, durable=durable)
            with self._writing(durable) as connection:
                return work(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a transaction that sees the database as it is at one moment, however long it takes.

        Raises:
            Unavailable: the database does not answer.
        """
        engine = self.engine
        if engine.dialect.name == "postgresql":
            # SQLite has no other kind of transaction.
            engine = engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        with self._only_one(), self._answering(), engine.begin() as connection:
            yield connection

    @property
    def engines(self) -> set[Engine]:
        """The engines whose connections are in use, of which :attr:`engine` is one."""
        return {self.engine, self._writing_engine}

    @property
    def is_hanging(self) -> bool:
        """Whether the server is known to answer nothing, so that waiting for it is in vain."""
        return self._connector is not None and self._connector.circuit.is_open

    @property
    def driver_error(self) -> type[Exception]:
        """What the driver raises, whatever went wrong."""
        error: type[Exception] = self.engine.dialect.loaded_dbapi.Error
        return error

    def connect_reader(self) -> Any:
        """Return a connection of the driver, in no pool, on which each query is a transaction.

        Raises:
            driver_error: the database does not answer.
        """
        dialect = self.engine.dialect
        if self._connector is not None:
            bounded = self._connector.connect(autocommit=True)
            bounded.execute("SET default_transaction_read_only = on")
            return bounded
        positional, named = dialect.create_connect_args(self.engine.url)
        connection = dialect.connect(*positional, **{**named, **_SQLITE_ARGUMENTS})
        _prepare_sqlite(connection)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def close(self) -> None:
        """Close every connection."""
        if self._writer_lock:
            self._writer_lock.close()
        if self._connector:
            self._connector.circuit.close()
        for engine in self.engines:
            engine.dispose()

    @contextmanager
    def _writing(self, durable: bool) -> Iterator[Connection]:
        writer = self._writer if durable else self._lazy_writer
        turn = self._writer_lock.acquire() if self._writer_lock else nullcontext()
        with turn, self._answering(), writer.begin() as connection:
            yield connection

    @contextmanager
    def _answering(self) -> Iterator[None]:
        if self.is_hanging:
            raise Unavailable(retry_after=1)
        with _unavailable_when_away():
            yield

    @contextmanager
    def _only_one(self) -> Iterator[None]:
        if getattr(self._of_thread, "busy", False):
            raise RuntimeError("a transaction was begun within another")
        self._of_thread.busy = True
        try:
            yield
        finally:
            self._of_thread.busy = False


def _bound(engine: Engine, timeout_seconds: float | None) -> "Connector":
    """Let an engine open connections whose statements end in time."""
    # The driver is installed only where it is needed.
    from strongroom.database.postgresql import Connector

    _, parameters = engine.dialect.create_connect_args(engine.url)
    connector = Connector(parameters, timeout_seconds)
    event.listen(engine, "do_connect", lambda *_: connector.connect())
    return connector


def _engine(url: str, pool_size: int, pool_seconds: float) -> Engine:
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=pool_seconds,
        pool_pre_ping=True,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _sqlite_engine(url: str, pool_size: int) -> Engine:
    path = make_url(url).database
    if not path or path == ":memory:":
        raise ValueError("an SQLite database must be a file: each connection in memory has its own")
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_timeout=_POOL_SECONDS,
        hide_parameters=True,
        connect_args=_SQLITE_ARGUMENTS,
    )
    event.listen(engine, "do_connect", lambda *_: _make_private(Path(path)))
    event.listen(engine, "connect", lambda connection, _: _prepare_sqlite(connection))
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_private(path: Path) -> None:
    """Create a database that only its owner can read, and take it from others where it exists.

    SQLite gives its log and its index the mode of the database. The directory may be missing, or the
    file another user's: SQLite reports that.
    """
    with suppress(OSError):
        if not path.exists():
            _create_private(path)
        for file in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            if file.exists() and file.stat().st_mode & stat.S_IRWXO:
                file.chmod(stat.S_IMODE(file.stat().st_mode) & ~stat.S_IRWXO)


def _create_private(path: Path) -> None:
    # The database itself is never opened here: closing it again would drop the locks (fcntl) that
    # SQLite holds on it for other connections of this process.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent)
    os.close(descriptor)
    try:
        os.link(temporary, path)
    finally:
        Path(temporary).unlink()


def _prepare_sqlite(connection: Any) -> None:
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
    options = connection.get_execution_options()
    if not options.get(_WRITING):
        _BEGIN.change(connection, {})
        return
    # Whether a commit waits for the disk is a matter of the connection.
    is_lazy = options.get(_LAZY, False)
    if connection.info.get(_LAZY, False) != is_lazy:
        (_SYNC_LATER if is_lazy else _SYNC).change(connection, {})
        connection.info[_LAZY] = is_lazy
    _BEGIN_WRITING.change(connection, {})


def _begin_postgresql(connection: Connection) -> None:
    if connection.get_execution_options().get(_LAZY):
        _DO_NOT_WAIT.change(connection, {})


@contextmanager
def _unavailable_when_away() -> Iterator[None]:
    try:
        yield
    except PoolTimeoutError as error:
        logger.warning("No connection to the database came free within database.timeout_seconds")
        raise Unavailable(retry_after=1) from error
    except DBAPIError as error:
        if _is_full(error):
            reason = _reason(error)
            logger.error("The database has no space left on its disk: %s", reason)  # noqa: TRY400
            raise StorageFull("The database has no space left.") from error
        if getattr(error.orig, "sqlstate", None) == _DEADLOCK:
            # A client that tries again is helped; only a change of the code mends it.
            logger.exception("Two transactions waited for each other")
            raise Unavailable(retry_after=1) from error
        if _is_away(error):
            logger.warning("The database does not answer: %s", _reason(error))
            raise Unavailable(retry_after=1) from error
        raise


def _reason(error: DBAPIError) -> str:
    """Return what the driver says, without the statement and its parameters."""
    first = str(error.orig).strip().partition("\n")[0]
    return f"{type(error.orig).__name__}: {first}"


def _is_full(error: DBAPIError) -> bool:
    if getattr(error.orig, "sqlstate", None) == _DISK_FULL:
        return True
    return getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def _is_away(error: DBAPIError) -> bool:
    """Return whether trying again may help; a missing table, for one, it will not bring back."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        # The lowest byte is the kind; the rest tells it apart further.
        return code & 0xFF in _AWAY_ON_SQLITE
    return error.connection_invalidated or isinstance(error, OperationalError)
