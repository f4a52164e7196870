"""Runs queries, one a request, on connections that the driver has opened for them alone.

A pool and a transaction cost several times what the database takes to find a row by its key. Where a
request is one query, and nothing is changed, they can be left out.
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
"""For how long nothing is tried after the database did not answer."""

_WAIT_SECONDS: Final = 0.25

T = TypeVar("T")

logger = logging.getLogger(__name__)


Ask = Callable[[Compiled, Mapping[str, Any]], Rows]
"""Runs a query with parameters, of which it takes those that it knows."""


class Reader:
    """Runs queries, each of which sees the database as it is at one moment.

    Args:
        database: what is read.
        connections: how many are opened at most; they stay open.
    """

    def __init__(self, database: Database, *, connections: int = 8) -> None:
        self._database = database
        self._is_sqlite = database.engine.dialect.name == "sqlite"
        self._free = Semaphore(connections)
        self._idle: deque[Any] = deque()
        self._paused_until = 0.0

    def prepare(self, query: SelectBase) -> Compiled:
        """Compile a query, of whose columns all are texts and whole numbers: nothing is converted."""
        return Statement(query).compiled(self._database.engine.dialect)

    def run(self, query: Compiled, parameters: Mapping[str, Any]) -> Rows | None:
        """Return the rows, or ``None`` if the database does not answer: whoever asks asks otherwise."""
        return self._on_connection(lambda connection: _fetch(connection, query, parameters))

    def read_transaction(self, work: Callable[[Ask], T | None]) -> T | None:
        """Return what comes of queries, each of which may rest on those before; ``None`` as above.

        On SQLite all see the same moment; on PostgreSQL each sees its own, as in every transaction.
        """
        return self._on_connection(lambda connection: self._transact(connection, work))

    def close(self) -> None:
        """Close the connections that are not in use."""
        while (connection := self._take()) is not None:
            connection.close()

    def _on_connection(self, work: Callable[[Any], T]) -> T | None:
        is_away = self._database.is_hanging or self._paused_until > time.monotonic()
        if is_away or not self._free.acquire(timeout=_WAIT_SECONDS):
            return None
        try:
            return self._with_connection(work)
        except self._database.driver_error as error:
            logger.warning("The database did not answer a prepared query: %s", type(error).__name__)
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            # They are likely to have broken with it.
            self.close()
            return None
        finally:
            self._free.release()

    def _with_connection(self, work: Callable[[Any], T]) -> T:
        connection = self._take() or self._database.connect_reader()
        try:
            done = work(connection)
        except BaseException:
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
        try:
            return self._idle.pop()
        except IndexError:
            return None


def _fetch(connection: Any, query: Compiled, parameters: Mapping[str, Any]) -> Rows:
    rows: Rows = query.run_on(connection, parameters).fetchall()
    return rows
