"""Runs one request in the middle of another, at each of its statements in turn.

A race that is lost once in a thousand times is lost at one of a few dozen statements. So instead of many
threads and much luck, this needs one run for each statement.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import event, text

from strongroom.foundation.database import Database
from tests.support.waiting import PATIENCE_SECONDS

Action = Callable[[], Any]
Outcomes = tuple[Any, Any]
"""What the first and the second action returned."""

_EVENTS: Final = ("before_cursor_execute", "commit")
_POLL_SECONDS: Final = 0.005
_WAITING_SECONDS: Final = 2
_LOCK_WAITS: Final = text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


class Interleaving:
    """Runs actions on a PostgreSQL database; on SQLite, a writing transaction excludes all others."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def every(self, prepare: Callable[[], tuple[Action, Action]]) -> Iterator[Outcomes]:
        """Run the second action before each statement and each commit of the first one.

        Args:
            prepare: called for each run, and returns both actions.
        """
        point, is_over = 0, False
        while not is_over:
            outcomes, is_over = self._run(*prepare(), point)
            yield outcomes
            point += 1

    def _run(self, first: Action, second: Action, point: int) -> tuple[Outcomes, bool]:
        """Return the outcomes, and whether the first action was over before it came to the point."""
        thread, passed = threading.get_ident(), 0
        started: list[Future[Any]] = []

        def interrupt(*_: Any) -> None:
            nonlocal passed
            if threading.get_ident() == thread and not started:
                passed += 1
                if passed > point:
                    # Another thread, because a thread has one transaction at a time.
                    started.append(pool.submit(second))
                    self.await_end_or_lock(started[0])

        with ThreadPoolExecutor(1) as pool:
            with self._listening(interrupt):
                outcome = first()
            running = started[0] if started else pool.submit(second)
            return (outcome, running.result(PATIENCE_SECONDS)), not started

    @contextmanager
    def _listening(self, listener: Callable[..., None]) -> Iterator[None]:
        wanted = [(engine, name) for engine in self._database.engines for name in _EVENTS]
        for engine, name in wanted:
            event.listen(engine, name, listener)
        try:
            yield
        finally:
            for engine, name in wanted:
                event.remove(engine, name, listener)

    def await_end_or_lock(self, running: "Future[Any]") -> None:
        """Return when an action has ended, or waits for a lock that only the first action releases."""
        # The limit is for locks within this process.
        deadline = time.monotonic() + _WAITING_SECONDS
        while not wait([running], _POLL_SECONDS).done:
            if self._is_blocked() or time.monotonic() > deadline:
                return

    def _is_blocked(self) -> bool:
        with self._database.engine.connect() as connection:
            return bool(connection.execute(_LOCK_WAITS).scalar_one())
