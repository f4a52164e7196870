"""Readiness: runs the probes of all parts concurrently, with a timeout."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from strongroom.clock import Clock

PATIENCE_SECONDS: Final = 2.0
"""The time after which a part that has not responded counts as unavailable."""

FRESH: Final = 1000
"""Milliseconds for which a report is cached, so that frequent health checks are cheap."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about a part that works. It is public, so it must not contain secrets."""

    text: str


Probe = Callable[[], str | Note | None]
"""Returns the fault of a part, or ``None``. The text is public, so it must not contain secrets."""


@dataclass(frozen=True, slots=True)
class Report:
    """The state of all parts.

    Args:
        parts: the fault of each part by its name; ``None`` if there is none.
        notes: remarks about parts that work, by name.
    """

    parts: Mapping[str, str | None]
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        """Whether no part has a fault."""
        return not any(self.parts.values())


class Readiness:
    """Runs the probes of all parts concurrently, and caches the report.

    A probe that hangs blocks one thread, and is not started again before it has finished.

    Args:
        probes: the probes by the name of their part.
        clock: measures the age of the cached report.
        patience: the timeout of the probes in seconds.
    """

    def __init__(
        self, probes: Mapping[str, Probe], clock: Clock, *, patience: float = PATIENCE_SECONDS
    ) -> None:
        self._probes = probes
        self._clock = clock
        self._patience = patience
        self._pool = ThreadPoolExecutor(len(probes), thread_name_prefix="readiness")
        self._running: dict[str, Future[str | Note | None]] = {}
        self._lock = Lock()
        self._last: tuple[int, Report] | None = None

    def report(self) -> Report:
        """Return the current report; it is at most ``FRESH`` milliseconds old."""
        with self._lock:
            now = self._clock.now()
            # If the clock was set back, the cached report counts as expired.
            if self._last is None or not 0 <= now - self._last[0] < FRESH:
                self._last = (now, self._run_probes())
            return self._last[1]

    def close(self) -> None:
        """Stop the threads, without waiting for probes that hang."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run_probes(self) -> Report:
        for name, probe in self._probes.items():
            if name not in self._running:
                self._running[name] = self._pool.submit(probe)
        done, _ = wait(self._running.values(), self._patience)
        parts = {
            name: _outcome(future, answered=future in done) for name, future in self._running.items()
        }
        # Probes that hang stay registered, so that the next report does not start them again.
        self._running = {name: future for name, future in self._running.items() if future not in done}
        return Report(
            {name: _fault(parts[name]) for name in self._probes},
            {name: part.text for name, part in parts.items() if isinstance(part, Note)},
        )


def _fault(outcome: str | Note | None) -> str | None:
    return None if isinstance(outcome, Note) else outcome


def _outcome(future: "Future[str | Note | None]", *, answered: bool) -> str | Note | None:
    if not answered:
        return "It does not answer."
    # Only the class of an unexpected error is reported, because its text may contain secrets.
    error = future.exception()
    return future.result() if error is None else f"It failed: {type(error).__name__}."
