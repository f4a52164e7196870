"""Connections and transactions.

Services open a transaction where the work of a request begins and pass the connection on, so that all
its changes are atomic. On SQLite, ``write`` takes the write lock when the transaction begins. A read
transaction that upgraded to writing could fail halfway, because another writer committed first.
"""

import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.pool import NullPool

from strongroom.database.commit_signal import CommitSignal
from strongroom.database.compiled import UNOBSERVED, is_observed
from strongroom.database.failures import DATABASE_ERRORS, raise_translated
from strongroom.database.read_pool import OneTransaction, Read, ReadPool
from strongroom.database.sqlite_writer import GroupCommit, WriterLock
from strongroom.database.statements import REPEATABLE, Observer, Statement, forget, observe
from strongroom.errors import Unavailable
from strongroom.plugin_api.tracing import carry

if TYPE_CHECKING:
    from strongroom.database.postgresql import Connector

T = TypeVar("T")

_BUSY_SECONDS = 30
_POOL_SECONDS = 10
_WRITING = "strongroom_writing"
_SQLITE_ARGUMENTS = {"timeout": _BUSY_SECONDS, "check_same_thread": False}
_LAZY = "strongroom_lazy"

_BEGIN = Statement(text("BEGIN"))
_BEGIN_WRITING = Statement(text("BEGIN IMMEDIATE"))
# In WAL mode, FULL syncs the log at each commit and NORMAL at checkpoints only.
_SYNC = Statement(text("PRAGMA synchronous = FULL"))
_NO_SYNC = Statement(text("PRAGMA synchronous = NORMAL"))
_LONG_SECONDS = 600
_LIFT_LIMIT = Statement(text(f"SET LOCAL statement_timeout = '{_LONG_SECONDS}s'"))
_RESTORE_LIMIT = Statement(text("SET LOCAL statement_timeout TO DEFAULT"))
_ASYNC_COMMIT = Statement(text("SET LOCAL synchronous_commit = off"))


class Database:
    """The database of one process.

    Args:
        url: ``sqlite:///FILE`` or ``postgresql+psycopg://...``.
        pool_size: connections that stay open; as many again are opened under load.
        readers: further connections that :meth:`read` keeps; more concurrent reads use the others.
        timeout_seconds: the time limit of a statement on PostgreSQL; ``None`` is unlimited.

    A thread has one transaction at a time. A nested transaction could deadlock, because it might wait
    for a connection or a lock that its own thread holds.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 16,
        readers: int = 8,
        timeout_seconds: float | None = None,
    ) -> None:
        self._guard = OneTransaction()
        self._on_wait: Callable[[float], None] | None = None
        self.commits = CommitSignal()
        is_sqlite = url.startswith("sqlite")
        self.engine = (
            _sqlite_engine(url, pool_size)
            if is_sqlite
            else _engine(url, pool_size, timeout_seconds or _POOL_SECONDS)
        )
        self._connector = None if is_sqlite else _bound(self.engine, timeout_seconds)
        self._readers = ReadPool(_reading_engine(url, self._connector), readers)
        # SQLite has one writer at a time, and a commit invalidates the page caches of all other
        # connections. So all writes use one connection, whose cache stays valid.
        self._writing_engine = _sqlite_engine(url, 1) if is_sqlite else self.engine
        self._writer = self._writing_engine.execution_options(**{_WRITING: True})
        self._lazy_writer = self._writing_engine.execution_options(**{_WRITING: True, _LAZY: True})
        self._group_commit = GroupCommit(self._writing) if is_sqlite else None
        self._writer_lock = (
            WriterLock(self.engine.url.database or "", _BUSY_SECONDS) if is_sqlite else None
        )

    def read(self) -> AbstractContextManager[Connection]:
        """Check out a connection for reading only.

        On SQLite all statements see one snapshot; on PostgreSQL each sees its own, as at the default
        isolation level. Use :meth:`snapshot` for one snapshot on both.

        Raises:
            Unavailable: the database does not respond.
        """
        if self._connector is not None:
            self._require_response()
        return Read(self.engine, self._readers, self._guard, in_transaction=True)

    def read_one(self) -> AbstractContextManager[Connection]:
        """Check out a connection for a single statement. On SQLite this saves a transaction of its own.

        Raises:
            Unavailable: the database does not respond.
        """
        if self._connector is not None:
            self._require_response()
        return Read(self.engine, self._readers, self._guard, in_transaction=False)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """Open a transaction that commits when the block ends, and rolls back if the block raises.

        Args:
            durable: whether the commit must survive a power failure. A non-durable commit survives a
                crash of Strongroom's processes, and becomes durable with the next durable commit.

        Raises:
            Unavailable: the database does not respond.
            StorageFull: the database has no space left.
        """
        with self._guard, self._writing(durable) as connection:
            yield connection

    def write_together(self, work: Callable[[Connection], T], *, durable: bool = True) -> T:
        """Run ``work`` in a transaction as of :meth:`write`, and return its result.

        On SQLite, the work of concurrent threads shares one transaction, so that they wait for one disk
        sync (group commit); PostgreSQL does the same internally. The work may run in another thread.

        Raises:
            Unavailable: the database does not respond.
            StorageFull: the database has no space left.
        """
        with self._guard:
            if self._group_commit is not None:
                # Another thread may run it, on behalf of this request.
                return self._group_commit.run(carry(work), durable=durable)
            with self._writing(durable) as connection:
                return work(connection)

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Open a transaction for reading whose queries all see one snapshot of the database.

        Raises:
            Unavailable: the database does not respond.
        """
        engine = self.engine
        if engine.dialect.name == "postgresql":
            # Every SQLite transaction reads from a snapshot; PostgreSQL's default does not.
            engine = engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        began = perf_counter()
        with self._guard, self._translating_errors(), engine.begin() as connection:
            self._note_wait(began)
            yield connection

    @property
    def engines(self) -> set[Engine]:
        """All engines in use: :attr:`engine` and, on SQLite, the engine for writing."""
        return {self.engine, self._writing_engine}

    def observe(self, statements: Observer, waits: Callable[[float], None] | None = None) -> None:
        """Observe the work of the database, until :meth:`close`.

        Args:
            statements: called after each statement.
            waits: receives the seconds that each transaction has waited for a connection and, on SQLite,
                for the write lock.
        """
        self._on_wait = waits
        for engine in (*self.engines, self._readers.engine):
            observe(engine, statements)

    @property
    def is_hanging(self) -> bool:
        """Whether the server is known to hang, so that queries would only time out."""
        return self._connector is not None and self._connector.circuit.is_open

    def close(self) -> None:
        """Close every connection."""
        if self._writer_lock:
            self._writer_lock.close()
        if self._connector:
            self._connector.circuit.close()
        self._readers.close()
        forget(self._readers.engine)
        for engine in self.engines:
            forget(engine)
            engine.dispose()

    @contextmanager
    def _writing(self, durable: bool) -> Iterator[Connection]:
        writer = self._writer if durable else self._lazy_writer
        lock = self._writer_lock.acquire() if self._writer_lock else nullcontext()
        began = perf_counter()
        # The lock comes first, so that a waiting thread does not occupy a connection of the pool.
        with lock, self._translating_errors(), writer.begin() as connection:
            self._note_wait(began)
            if not is_observed(writer):
                connection.execution_options(**{UNOBSERVED: True})
            topics = self.commits.collect(connection)
            yield connection
        # After the release of the lock; skipped if the transaction was rolled back.
        self.commits.notify(topics)

    def _note_wait(self, began: float) -> None:
        if self._on_wait is not None:
            self._on_wait(perf_counter() - began)

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        self._require_response()
        try:
            yield
        except DATABASE_ERRORS as error:
            raise_translated(error)
            raise

    def _require_response(self) -> None:
        # Immediately, because a thread would otherwise wait for the whole time limit.
        if self.is_hanging:
            raise Unavailable(retry_after=1)


@contextmanager
def long_statements(connection: Connection, *, wanted: bool = True) -> Iterator[None]:
    """Extend the time limit of the statements in the block to ten minutes, if wanted.

    For one change of very many rows, which would otherwise fail however often it is repeated. SQLite
    and commands have no time limit.
    """
    driver: Any = connection.connection.driver_connection
    seconds = getattr(driver, "seconds", None)
    if seconds is None or not wanted:
        yield
        return
    _LIFT_LIMIT.execute(connection)
    # Later than the server's own limit: the server only cancels the statement.
    driver.seconds = max(seconds, _LONG_SECONDS + _POOL_SECONDS)
    try:
        yield
        # Not after an error: the transaction is over then.
        _RESTORE_LIMIT.execute(connection)
    finally:
        driver.seconds = seconds


def _bound(engine: Engine, timeout_seconds: float | None) -> "Connector":
    """Make an engine open connections whose statements have a time limit."""
    # Imported here because psycopg is installed only for PostgreSQL.
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
        # A ping per checkout detects connections that a restarted server has closed.
        pool_pre_ping=True,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin_postgresql)
    return engine


def _reading_engine(url: str, connector: "Connector | None") -> Engine:
    """Return an engine without a pool whose connections refuse to write and have no transactions."""
    engine = create_engine(
        url,
        poolclass=NullPool,
        isolation_level="AUTOCOMMIT",
        # Database.read passes no statements to this engine while there are listeners.
        execution_options={REPEATABLE: True, UNOBSERVED: True},
        hide_parameters=True,
        **({} if connector else {"connect_args": _SQLITE_ARGUMENTS}),
    )
    if connector is not None:
        event.listen(engine, "do_connect", lambda *_: _connect_reader(connector))
    else:
        event.listen(engine, "connect", lambda connection, _: _prepare_sqlite_reader(connection))
    return engine


def _connect_reader(connector: "Connector") -> Any:
    connection = connector.connect(autocommit=True)
    connection.execute("SET default_transaction_read_only = on")
    return connection


def _prepare_sqlite_reader(connection: Any) -> None:
    _prepare_sqlite(connection)
    connection.execute("PRAGMA query_only = ON")


def _sqlite_engine(url: str, pool_size: int) -> Engine:
    path = make_url(url).database
    if not path or path == ":memory:":
        raise ValueError("an SQLite database must be a file; connections do not share one in memory")
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


def _prepare_sqlite(connection: Any) -> None:
    # By default, sqlite3 begins a transaction only before the first write, so the reads before it
    # would be outside. Autocommit mode leaves BEGIN to _begin_sqlite.
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
    content = (part if isinstance(part, bytes) else str(part).encode() for part in parts)
    return hashlib.sha256(b"".join(content)).hexdigest()


def _begin_sqlite(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get(_WRITING):
        _BEGIN.execute(connection, {})
        return
    # synchronous is a setting of the connection and cannot change within a transaction, so switch it
    # before BEGIN when the durability differs from the previous transaction's.
    is_lazy = options.get(_LAZY, False)
    if connection.info.get(_LAZY, False) != is_lazy:
        (_NO_SYNC if is_lazy else _SYNC).execute(connection, {})
        connection.info[_LAZY] = is_lazy
    _BEGIN_WRITING.execute(connection, {})


def _begin_postgresql(connection: Connection) -> None:
    if connection.get_execution_options().get(_LAZY):
        _ASYNC_COMMIT.execute(connection, {})
