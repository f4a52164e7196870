"""Connections and transactions.

Services open a transaction where the work of a request begins and pass the connection on, so that all
its changes are atomic. On SQLite, ``write`` takes the write lock when the transaction begins. A read
transaction that upgraded to writing could fail halfway, because another writer committed first.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from math import ceil
from time import perf_counter
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, text

from strongroom.clock import Clock
from strongroom.foundation.database.commit_signal import CommitSignal
from strongroom.foundation.database.effects import apply_effect, with_effect
from strongroom.foundation.database.engines import (
    close_engine,
    open_engines,
    open_standby,
    restore_limit,
)
from strongroom.foundation.database.failures import DATABASE_ERRORS, raise_translated
from strongroom.foundation.database.group_commit import GroupCommit, KeyedGroupCommit
from strongroom.foundation.database.observers import Observer, forget, observe
from strongroom.foundation.database.read_pool import Read, ReadPool
from strongroom.foundation.database.replica import (
    ReplayPosition,
    Replica,
    ReplicaFailed,
    ReplicaState,
    read_cluster,
    read_position,
)
from strongroom.foundation.database.replica_reads import OnRead, ReplicaRead, ReplicaReads
from strongroom.foundation.database.sqlite_engines import BUSY_SECONDS, POOL_SECONDS
from strongroom.foundation.database.sqlite_writer import SqliteWriter, WriterLock
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.transaction_clock import OneTransaction, TransactionClock
from strongroom.foundation.database.write_transaction import PooledWriter, Write, Writer
from strongroom.foundation.errors import Unavailable
from strongroom.plugin_api.tracing import carry

T = TypeVar("T")

_LONG_SECONDS = 600
_QUEUED_AT_ONCE = 16
"""Number of works of a key that share a transaction: other processes wait for the same lock."""

_LIFT_LIMIT = Statement(text(f"SET LOCAL statement_timeout = '{_LONG_SECONDS}s'"))


class Database:
    """The database of one process.

    Args:
        url: ``sqlite:///FILE`` or ``postgresql+psycopg://...``.
        pool_size: connections that stay open; as many again are opened under load.
        readers: further connections that :meth:`read` keeps; more concurrent reads use the others.
        timeout_seconds: the time limit of a statement on PostgreSQL; ``None`` is unlimited.
        read_only: refuse to write. On SQLite, no file is created or changed, except its ``-shm``.

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
        read_only: bool = False,
    ) -> None:
        self._guard = OneTransaction()
        self._on_wait: Callable[[float], None] | None = None
        self.commits = CommitSignal()
        opened = open_engines(url, pool_size, timeout_seconds, read_only=read_only)
        self.engine = opened.ordinary
        self._connector = opened.connector
        self._readers = ReadPool(opened.reading, readers)
        self._writing_engine = opened.writing
        self._sqlite_writer = None
        if opened.connector is None:
            self._sqlite_writer = _sqlite_writer(opened.writing)
            self._writer: Writer = self._sqlite_writer
        else:
            self._writer = PooledWriter(opened.writing, opened.connector.commits)
        self._group_commit = GroupCommit(self._writing) if self._sqlite_writer else None
        self._on_queue_wait: Callable[[float], None] | None = None
        self._queues = KeyedGroupCommit(self._queue)
        # Half of the time that a change may wait, so that those before it may take the other half.
        self._crowded_seconds = (timeout_seconds or POOL_SECONDS) / 2
        self.replica: Replica | None = None
        self._cluster: str | None = None
        self._reads = ReplicaReads()
        self._on_replica_read: OnRead | None = None

    def add_replica(
        self,
        url: str,
        *,
        readers: int = 8,
        timeout_seconds: float | None = None,
        wait_seconds: float = 0.05,
        max_age: float = 10,
    ) -> None:
        """Let a streaming standby of PostgreSQL answer the reads of :meth:`on_replica`.

        Args:
            url: ``postgresql+psycopg://...``, of the same database.
            readers: connections to it.
            timeout_seconds: the time limit of a statement; ``None`` is unlimited.
            wait_seconds: how long a read waits until the standby has the changes before it.
            max_age: the age of the standby in seconds beyond which no read waits.
        """
        engine, connector = open_standby(url, timeout_seconds, lambda: self._cluster)
        circuit = connector.circuit
        self.replica = Replica(
            engine, readers, wait_seconds, max_age, lambda: circuit.is_open, circuit.close
        )

    def on_replica(self, read: Callable[[], T]) -> T:
        """Call a function that only reads; the replica may answer its transactions of :meth:`read`.

        Their rows are not older than the call: the replica answers only if it has replayed all commits
        before it that are durable. So they contain what the caller has written, on any node, and obey
        permissions that were revoked. If the replica lags behind, the primary answers. If it fails, the
        function is called again.
        """
        if self.replica is None or self._reads.position is not None:
            return read()
        self._reads.has_read, has_read = False, False
        try:
            self._reads.position = self._find_position(self.replica)
            result = read()
            has_read = self._reads.has_read
        except ReplicaFailed:
            self._reads.position = None
            result = read()
        finally:
            self._reads.position = None
            if self._on_replica_read is not None:
                self._on_replica_read(has_read)
        return result

    def observe_replica(self, reads: OnRead) -> None:
        """Observe which server answers the reads of :meth:`on_replica`, if there is a replica."""
        self._on_replica_read = reads

    def examine_replica(self) -> ReplicaState | None:
        """Return the state of the replica, or ``None`` if there is none.

        Raises:
            Unavailable: the primary does not respond.
            sqlalchemy.exc.DBAPIError: the replica does not respond, or refuses the login.
        """
        return self.replica.examine(self.find_position()) if self.replica else None

    def find_position(self) -> ReplayPosition:
        """Return the position of the primary's log.

        Raises:
            Unavailable: the primary does not respond.
        """
        with self.read() as connection:
            if self._cluster is None:
                self._cluster = read_cluster(connection)
            return read_position(connection)

    def _find_position(self, replica: Replica) -> ReplayPosition | None:
        if not replica.is_usable:
            return None
        try:
            return self.find_position()
        except Unavailable:
            # The read of the primary decides what the caller gets.
            return None

    def read(self) -> AbstractContextManager[Connection]:
        """Check out a connection for reading only.

        On SQLite all statements see one snapshot; on PostgreSQL each sees its own, as at the default
        isolation level. Use :meth:`snapshot` for one snapshot on both.

        Raises:
            Unavailable: the database does not respond.
        """
        if self._connector is not None:
            if (replicated := self._read_replica()) is not None:
                return replicated
            self._require_response()
        return Read(self.engine, self._readers, self._guard, in_transaction=True)

    def read_one(self) -> AbstractContextManager[Connection]:
        """Check out a connection for a single statement. On SQLite this saves a transaction of its own.

        Raises:
            Unavailable: the database does not respond.
        """
        if self._connector is not None:
            if (replicated := self._read_replica()) is not None:
                return replicated
            self._require_response()
        return Read(self.engine, self._readers, self._guard, in_transaction=False)

    def _read_replica(self) -> ReplicaRead | None:
        """Return a read on the replica, if it may answer and has the changes before the read."""
        if self.replica is None or self._reads.position is None:
            return None
        reader = self.replica.acquire(self._reads.position)
        if reader is None:
            return None
        self._reads.has_read = True
        return ReplicaRead(self.replica, reader, self._guard)

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
        with self._guard:
            write = self._writing(durable, accepts_actions=True)
            with write as connection:
                yield connection
                apply_effect(connection)
        if write.state.actions:
            write.state.run_actions()

    def write_together(
        self, work: Callable[[Connection], T], *, key: str | None = None, durable: bool = True
    ) -> T:
        """Run ``work`` in a transaction as of :meth:`write`, and return its result.

        On SQLite, the work of concurrent threads shares one transaction, so that they wait for one disk
        sync (group commit). On PostgreSQL, which does the same internally, only work of the same key
        does, which would wait for the same lock. The work may run in another thread.

        Args:
            work: changes rows.
            key: what the work locks, such as the id of a tenant.
            durable: as of :meth:`write`.

        Raises:
            Unavailable: the database does not respond.
            StorageFull: the database has no space left.
        """
        with self._guard:
            # Another thread may run it, on behalf of this request.
            job = carry(self._translated(with_effect(work)))
            if self._group_commit is not None:
                return self._group_commit.run(job, durable=durable)
            if key is not None:
                return self._queues.run(key, job, durable=durable)
            with self._writing(durable) as connection:
                return with_effect(work)(connection)

    def require_short_queue(self, key: str) -> None:
        """Refuse work of :meth:`write_together` that would probably wait for too long.

        Raises:
            Unavailable: work of the same key has waited for half of the time limit.
        """
        if self._queues.waited(key) > self._crowded_seconds:
            raise Unavailable(retry_after=ceil(self._crowded_seconds))

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

    @property
    def _reading_engines(self) -> list[Engine]:
        return [self._readers.engine, *([self.replica.engine] if self.replica else [])]

    def transaction_clock(self, clock: Clock) -> TransactionClock:
        """Return a clock that stands still in each transaction of this database."""
        return TransactionClock(clock, self._guard)

    def observe_queues(self, waits: Callable[[float], None]) -> None:
        """Observe the seconds that work of :meth:`write_together` with a key waits for other work."""
        self._on_queue_wait = waits

    def observe(self, statements: Observer, waits: Callable[[float], None] | None = None) -> None:
        """Observe the work of the database, until :meth:`close`.

        Args:
            statements: called after each statement.
            waits: receives the seconds that each transaction has waited for a connection and, on SQLite,
                for the write lock.
        """
        self._on_wait = waits
        for engine in (*self.engines, *self._reading_engines):
            observe(engine, statements)

    @property
    def is_hanging(self) -> bool:
        """Whether the server is known to hang, so that queries would only time out."""
        return self._connector is not None and self._connector.circuit.is_open

    def close(self) -> None:
        """Close every connection."""
        if self._sqlite_writer:
            self._sqlite_writer.close()
        if self._connector:
            self._connector.circuit.close()
            self._connector.commits.close()
        self._readers.close()
        if self.replica:
            self.replica.close()
        for engine in self._reading_engines:
            forget(engine)
        for engine in self.engines:
            forget(engine)
            close_engine(engine)

    def _writing(self, durable: bool, *, accepts_actions: bool = False) -> Write:
        if self._connector is not None:
            self._require_response()
            # The replica does not have the changes of this transaction yet.
            self._reads.position = None
        return Write(self._writer, durable, self.commits, self._on_wait, accepts_actions)

    def _queue(self) -> GroupCommit:
        return GroupCommit(self._writing, self._on_queue_wait or _ignore, _QUEUED_AT_ONCE)

    def _translated(self, work: Callable[[Connection], T]) -> Callable[[Connection], T]:
        def translated(connection: Connection) -> T:
            # The thread may run the work of several requests in one transaction.
            self._guard.restart()
            try:
                return work(connection)
            except DATABASE_ERRORS as error:
                # Among other work, an error does not reach the end of the transaction.
                raise_translated(error)
                raise

        return translated

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


def _ignore(_seconds: float) -> None:
    """Drop a figure."""


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
    driver.seconds = max(seconds, _LONG_SECONDS + POOL_SECONDS)
    try:
        yield
    finally:
        driver.seconds = seconds
    # Not after an error: the transaction is over then.
    restore_limit(connection)


def _sqlite_writer(engine: Engine) -> SqliteWriter:
    return SqliteWriter(engine, WriterLock(engine.url.database or "", BUSY_SECONDS))
