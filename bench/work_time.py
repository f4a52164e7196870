"""Wall time and processor time of calls in this process, with the processes of the database."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from sqlalchemy import text

from bench.usage import own_processor_seconds
from strongroom.assembly.container import Container

_BACKENDS = """
SELECT pid FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend'
"""


class Taken(NamedTuple):
    """How long a call took, in milliseconds."""

    wall: float
    processor: float


class Stopwatch:
    """Measures calls of one thread, which use the open connections of a database."""

    def __init__(self, container: Container) -> None:
        self._backends: Sequence[int] = ()
        if container.database.engine.dialect.name == "postgresql":
            with container.database.read() as connection:
                self._backends = connection.execute(text(_BACKENDS)).scalars().all()

    def measure(self, call: Callable[[], object]) -> Taken:
        """Return how long a call takes."""
        spent, started = self._processor(), time.perf_counter()
        call()
        wall = time.perf_counter() - started
        return Taken(wall * 1000, (self._processor() - spent) * 1000)

    def _processor(self) -> float:
        return time.thread_time() + sum(map(own_processor_seconds, self._backends))
