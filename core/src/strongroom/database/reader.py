"""Runs the read-only queries of hot routes on dedicated driver connections.

SQLAlchemy's pool and transaction cost several times as much as finding a row by its key. Requests that
need a few queries and change nothing do without them.
"""

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from threading import Semaphore
from typing import Any, Final, TypeVar

from sqlalchemy import SelectBase

from strongroom.database.engine import Database
from strongroom.database.statements import Compiled, Rows, Statement

PAUSE_SECONDS: Final = 1.0
"""How long queries are skipped after the database failed to respond."""

_WAIT_SECONDS: Final = 0.25

T = TypeVar("T")

logger = logging.getLogger(__name__)


Ask = Callable[[Compiled, Mapping[str, Any]], Rows]
"""Runs a query; parameters that it does not use are ignored."""


class Reader:
    """Runs compiled queries on its own connections.

    Args:
        database: the database to read.
        connections: the maximum number of connections; they stay open.
    """

    def __init__(self, database: Database, *, connections: int = 8) -> None:
        self._database = database
        self._is_sqlite = database.engine.dialect.name == "sqlite"
        self._free = Semaphore(connections)
        self._idle: deque[Any] = deque()
        self._paused_until = 0.0

    def prepare(self, query: SelectBase) -> Compiled:
        """Compile a query whose columns and parameters need no conversion (text and integers).

        Raises:
            TypeError: a column or parameter needs a conversion.
        """
        return Statement(query).compiled(self._database.engine.dialect)

    def run(self, query: Compiled, parameters: Mapping[str, Any]) -> Rows | None:
        """Return the rows, or ``None`` if the database is unavailable or all connections are in use.

        The caller then falls back to the ordinary route.
        """
        return self._on_connection(lambda connection: _fetch(connection, query, parameters))

    def read_transaction(self, work: Callable[[Ask], T | None]) -> T | None:
        """Return the result of ``work``, which runs several queries; ``None`` as for :meth:`run`.

        On SQLite all queries see one snapshot. On PostgreSQL each sees its own snapshot, as in any
        transaction of the default isolation level (READ COMMITTED).
        """
        return self._on_connection(lambda connection: self._transact(connection, work))

    def close(self) -> None:
        """Close the idle connections."""
        while (connection := self._take()) is not None:
            connection.close()

    def _on_connection(self, work: Callable[[Any], T]) -> T | None:
        is_unavailable = self._database.is_hanging or self._paused_until > time.monotonic()
        # Never wait long here: falling back costs little, and the ordinary route has its own timeout.
        if is_unavailable or not self._free.acquire(timeout=_WAIT_SECONDS):
            return None
        try:
            return self._with_connection(work)
        except self._database.driver_error as error:
            logger.warning("A query of a hot route failed: %s", type(error).__name__)
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            # The idle connections are probably broken, too.
            self.close()
            return None
        finally:
            self._free.release()

    def _with_connection(self, work: Callable[[Any], T]) -> T:
        connection = self._take() or self._database.connect_reader()
        try:
            done = work(connection)
        except BaseException:
            # The connection may be broken or within a transaction: do not reuse it.
            connection.close()
            raise
        self._idle.append(connection)
        return done

    def _transact(self, connection: Any, work: Callable[[Ask], T]) -> T:
        if not self._is_sqlite:
            return work(partial(_fetch, connection))
        connection.execute("BEGIN")
        done = work(partial(_fetch, connection))
        connection.execute("COMMIT")
        return done

    def _take(self) -> Any:
        # The most recently used connection has the warmest page cache. deque.pop is thread-safe.
        try:
            return self._idle.pop()
        except IndexError:
            return None


def _fetch(connection: Any, query: Compiled, parameters: Mapping[str, Any]) -> Rows:
    rows: Rows = query.run_on(connection, parameters).fetchall()
    return rows
