"""A circuit that opens while a database server hangs: it accepts connections and answers nothing.

A server that is stopped refuses connections, which costs no time. One that hangs (a frozen machine, a
dead disk, a lost network) would hold every thread for as long as it may wait. So the first statement
that takes suspiciously long starts a probe on a connection of its own. If that gets no answer either,
everything that needs the database is refused at once until the probe is answered.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

SUSPICIOUS_SECONDS: Final = 1.0
"""After which a statement without an answer starts the probe."""

_PAUSE_SECONDS: Final = 0.2

logger = logging.getLogger(__name__)


class HangingCircuit:
    """Whether a database server hangs, as far as this process knows.

    Args:
        answers: tries a connection of its own; returns whether the server answered, if only by an
            error, within a time that it bounds itself.
    """

    def __init__(self, answers: Callable[[], bool]) -> None:
        self._answers = answers
        self._is_open = threading.Event()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._prober: threading.Thread | None = None

    @property
    def is_open(self) -> bool:
        """Whether the server hangs."""
        return self._is_open.is_set()

    def suspect(self) -> None:
        """Start the probe, unless it runs already."""
        with self._lock:
            if self._prober is None and not self._closing.is_set():
                self._prober = threading.Thread(target=self._probe, name="database-probe", daemon=True)
                self._prober.start()

    def trip(self) -> None:
        """Open the circuit until a probe is answered."""
        if not self._closing.is_set():
            self._open()
        self.suspect()

    def close(self) -> None:
        """Let the probe end."""
        self._closing.set()

    def _open(self) -> None:
        if not self._is_open.is_set():
            self._is_open.set()
            logger.error("The database hangs: what needs it is refused until it answers")

    def _probe(self) -> None:
        began = time.monotonic()
        try:
            while not self._closing.is_set() and not self._answers():
                self._open()
                self._closing.wait(_PAUSE_SECONDS)
        finally:
            with self._lock:
                self._prober = None
                if self._is_open.is_set():
                    logger.error("The database answers again after %.0f s", time.monotonic() - began)
                self._is_open.clear()
