"""Tells which parts of the server answer, without waiting long for one that does not."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from strongroom.clock import Clock

PATIENCE_SECONDS: Final = 2.0
"""After which a part that has not answered is taken for away."""

FRESH: Final = 1000
"""Milliseconds for which an answer is given again, so that asking often costs nothing."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark about a part that works, without secrets."""

    text: str


Probe = Callable[[], str | Note | None]
"""Returns what is wrong with a part, in a sentence that holds nothing secret, or ``None``."""


@dataclass(frozen=True, slots=True)
class Report:
    """The state of all parts.

    Args:
        parts: what is wrong with each, by its name; ``None`` where nothing is.
        notes: remarks about parts that work, by their name.
    """

    parts: Mapping[str, str | None]
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_ready(self) -> bool:
        """Whether nothing is wrong."""
        return not any(self.parts.values())


class Readiness:
    """Asks all parts at once.

    A part that hangs keeps one thread, and is not asked again before it has answered.

    Args:
        probes: by the name of their part.
        clock: the time.
        patience: seconds that a part is waited for.
    """

    def __init__(
        self, probes: Mapping[str, Probe], clock: Clock, *, patience: float = PATIENCE_SECONDS
    ) -> None:
        self._probes = probes
        self._clock = clock
        self._patience = patience
        self._pool = ThreadPoolExecutor(len(probes), thread_name_prefix="readiness")
        self._asked: dict[str, Future[str | Note | None]] = {}
        self._lock = Lock()
        self._last: tuple[int, Report] | None = None

    def report(self) -> Report:
        """Return what is wrong, as it was at most a second ago."""
        with self._lock:
            now = self._clock.now()
            # A clock that was set back must not keep an answer.
            if self._last is None or not 0 <= now - self._last[0] < FRESH:
                self._last = (now, self._ask())
            return self._last[1]

    def close(self) -> None:
        """Ask no more; a part that hangs is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self) -> Report:
        for name, probe in self._probes.items():
            if name not in self._asked:
                self._asked[name] = self._pool.submit(probe)
        done, _ = wait(self._asked.values(), self._patience)
        parts = {name: _outcome(future, answered=future in done) for name, future in self._asked.items()}
        self._asked = {name: future for name, future in self._asked.items() if future not in done}
        return Report(
            {name: _fault(parts[name]) for name in self._probes},
            {name: part.text for name, part in parts.items() if isinstance(part, Note)},
        )


def _fault(outcome: str | Note | None) -> str | None:
    return None if isinstance(outcome, Note) else outcome


def _outcome(future: "Future[str | Note | None]", *, answered: bool) -> str | Note | None:
    if not answered:
        return "It does not answer."
    # What a probe did not foresee is told by its kind alone: the text of an error may hold anything.
    error = future.exception()
    return future.result() if error is None else f"It failed: {type(error).__name__}."
