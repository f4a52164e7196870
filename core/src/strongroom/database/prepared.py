"""Queries that are compiled once, and run on connections that the driver has opened for them alone.

To run a Core statement costs several times what the database takes to find a row by its key: the pool,
a transaction, the statement's cache, the result's rows. Where a request is one query, and nothing is
changed, all that can be left out.
"""

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from threading import Semaphore
from typing import Any, Final

from sqlalchemy import Select

from strongroom.database.engine import Database

logger = logging.getLogger(__name__)

PAUSE_SECONDS: Final = 1.0
"""For how long nothing is tried after the database did not answer."""

Rows = Sequence[tuple[Any, ...]]


class PreparedQuery:
    """A query in the words of one database.

    Args:
        text: with parameters by name, as the driver takes them.
        fixed: the values of those that are always the same.
    """

    def __init__(self, text: str, fixed: Mapping[str, Any]) -> None:
        self.text = text
        self.fixed = dict(fixed)


class Reader:
    """Runs prepared queries, each of which sees the database as it is at one moment.

    Args:
        database: what is read.
        connections: how many are opened at most; they stay open.
    """

    def __init__(self, database: Database, *, connections: int = 8) -> None:
        self._database = database
        self._free = Semaphore(connections)
        self._idle: deque[Any] = deque()
        self._paused_until = 0.0

    def prepare(self, query: Select[Any]) -> PreparedQuery:
        """Compile a query, of whose columns all are texts and whole numbers: nothing is converted."""
        compiled = query.compile(dialect=self._database.driver_dialect())
        fixed = {name: value for name, value in compiled.params.items() if value is not None}
        return PreparedQuery(str(compiled), fixed)

    def run(self, query: PreparedQuery, parameters: Mapping[str, Any]) -> Rows | None:
        """Return the rows, or ``None`` if the database does not answer: whoever asks asks otherwise."""
        if self._paused_until > time.monotonic() or not self._free.acquire(timeout=PAUSE_SECONDS):
            return None
        try:
            return self._fetch(query.text, {**query.fixed, **parameters})
        except self._database.driver_error:
            logger.warning("The database did not answer a prepared query", exc_info=True)
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            # They are likely to have broken with it.
            self.close()
            return None
        finally:
            self._free.release()

    def close(self) -> None:
        """Close the connections that are not in use."""
        while (connection := self._take()) is not None:
            connection.close()

    def _fetch(self, text: str, parameters: Mapping[str, Any]) -> Rows:
        connection = self._take() or self._database.connect_reader()
        try:
            rows: Rows = connection.execute(text, parameters).fetchall()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)
        return rows

    def _take(self) -> Any:
        try:
            return self._idle.pop()
        except IndexError:
            return None
