"""Writing transactions, on both databases."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from strongroom.foundation.database.commit_signal import CommitSignal
from strongroom.foundation.database.deferred import run_deferred
from strongroom.foundation.database.engines import LAZY
from strongroom.foundation.database.failures import DATABASE_ERRORS, raise_translated
from strongroom.foundation.database.hanging import HangingCircuit
from strongroom.foundation.database.transaction_state import TransactionState, begin_state
from strongroom.foundation.errors import Unavailable


class Writer(Protocol):
    """Begins and ends writing transactions."""

    def begin(self, durable: bool) -> Connection:
        """Begin a transaction.

        Args:
            durable: whether its commit must survive a power failure.
        """

    def end(self, connection: Connection, error: BaseException | None) -> None:
        """Commit or, after an error, roll back."""


class PooledWriter:
    """Writes by the connections of a pool, on PostgreSQL."""

    def __init__(self, engine: Engine, commits: HangingCircuit) -> None:
        self._engine = engine
        self._commits = commits
        self._lazy_engine = engine.execution_options(**{LAZY: True})

    def begin(self, durable: bool) -> Connection:
        """Check out a connection, and begin a transaction.

        Raises:
            Unavailable: it would wait for its commit.
        """
        if durable and self._commits.is_open:
            raise Unavailable(retry_after=1)
        connection = (self._engine if durable else self._lazy_engine).connect()
        try:
            connection.begin()
            if durable:
                _driver(connection).commits = self._commits
        except BaseException as error:
            # A connection that was lost while its transaction began cannot be rolled back.
            if isinstance(error, DBAPIError) and error.connection_invalidated:
                connection.invalidate(error)
            connection.close()
            raise
        return connection

    def end(self, connection: Connection, error: BaseException | None) -> None:
        """Commit or, after an error, roll back, and return the connection."""
        with connection:
            if error is None:
                connection.commit()
            else:
                connection.rollback()
            if not connection.invalidated:
                _driver(connection).commits = None


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


@dataclass(slots=True, eq=False, repr=False)
class Write:
    """The context manager of a writing transaction.

    Its errors are those that clients get, and its topics are notified.

    Args:
        on_wait: receives the seconds until the transaction has begun.
        accepts_actions: whether it may have work after its commit, which its caller runs.
    """

    # A class, because nested generators take a tenth of the time of a small change (ADR 0088).
    _writer: Writer
    _durable: bool
    _commits: CommitSignal
    _on_wait: Callable[[float], None] | None
    _accepts_actions: bool = False
    _connection: Connection = field(init=False)
    state: TransactionState = field(init=False)

    def __enter__(self) -> Connection:
        began = perf_counter()
        try:
            self._connection = connection = self._writer.begin(self._durable)
        except DATABASE_ERRORS as error:
            raise_translated(error)
            raise
        if self._on_wait is not None:
            self._on_wait(perf_counter() - began)
        self.state = begin_state(connection, accepts_actions=self._accepts_actions)
        return connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        cause = error
        if self.state.deferred and error is None:
            try:
                run_deferred(self._connection, self.state.deferred)
            except BaseException as failure:
                cause = failure
        # Hot: without a function for the end, see ADR 0088.
        try:
            self._writer.end(self._connection, cause)
        except DATABASE_ERRORS as failure:
            raise_translated(failure)
            raise
        if cause is not None:
            raise_translated(cause)
            if error is None:
                raise cause
        elif self.state.topics:
            # After the release of the lock.
            self._commits.notify(self.state.topics)
