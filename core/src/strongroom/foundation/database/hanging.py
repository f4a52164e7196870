"""A circuit breaker for a database server that hangs: it accepts connections and does not respond.

A stopped server refuses connections, which costs no time. A server that hangs (a frozen machine, a dead
disk, a lost network) would block every thread until its timeout. So the first statement that takes
suspiciously long starts a probe on a separate connection. If the probe gets no response either, all
database calls are refused immediately until a probe succeeds.

Commits have a circuit of their own. While a synchronous standby does not respond, or the disk of the
log, commits hang and reads succeed. Without the circuit, waiting commits would take all threads.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

SUSPICIOUS_SECONDS: Final = 1.0
"""Seconds without a response after which a statement starts the probe."""

_PAUSE_SECONDS: Final = 0.2

logger = logging.getLogger(__name__)


class Hanging(Exception):
    """A base of the driver's errors that mean: the server did not respond in time."""


class HangingCircuit:
    """Knows whether a database server hangs; shared by the threads of a process.

    Args:
        responds: opens a separate connection and returns whether the server responded, even with an
            error. It must have its own timeout.
        refused: what hangs and is refused, for the log.
    """

    def __init__(
        self,
        responds: Callable[[], bool],
        refused: str = "The database hangs; requests that need it are refused",
    ) -> None:
        self._responds = responds
        self._refused = refused
        self._is_open = threading.Event()
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._prober: threading.Thread | None = None

    @property
    def is_open(self) -> bool:
        """Whether the server hangs."""
        return self._is_open.is_set()

    def suspect(self) -> None:
        """Start the probe, unless it is running."""
        with self._lock:
            if self._prober is None and not self._closing.is_set():
                # A daemon, because a probe of a hanging server must not delay the exit of the process.
                self._prober = threading.Thread(target=self._probe, name="database-probe", daemon=True)
                self._prober.start()

    def trip(self) -> None:
        """Open the circuit until a probe succeeds."""
        if not self._closing.is_set():
            # After close(), no probe would close the circuit again.
            self._open()
        self.suspect()

    def close(self) -> None:
        """Stop the probe."""
        self._closing.set()

    def _open(self) -> None:
        if not self._is_open.is_set():
            self._is_open.set()
            logger.error("%s until it responds", self._refused)

    def _probe(self) -> None:
        began = time.monotonic()
        try:
            while not self._closing.is_set() and not self._responds():
                self._open()
                self._closing.wait(_PAUSE_SECONDS)
        finally:
            # Also after an unexpected error: a circuit without a probe would never close again.
            with self._lock:
                self._prober = None
                if self._is_open.is_set():
                    logger.error("The database responds again after %.0f s", time.monotonic() - began)
                self._is_open.clear()
