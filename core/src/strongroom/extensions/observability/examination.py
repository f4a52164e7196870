"""The doctor's examination by a server: bounded in time, and remembered for a while."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock
from typing import Final

from strongroom.clock import Clock
from strongroom.extensions.observability.bounded_calls import BoundedCalls
from strongroom.extensions.observability.doctor import (
    DATABASE_PART,
    Check,
    CheckResult,
    CheckState,
    Doctor,
    failed,
    has_base_fault,
)

FRESH: Final = 60_000
"""Milliseconds for which an examination is remembered."""

PATIENCE_SECONDS: Final = 3.0
"""The time after which a part that has not responded is reported as failed."""

_ORDER: Final = (CheckState.FAILED, CheckState.WARNING, CheckState.OK)


@dataclass(frozen=True, slots=True)
class Examination:
    """The findings of all parts, the worst first.

    Args:
        examined_at: in milliseconds since the Unix epoch.
    """

    examined_at: int
    results: Sequence[CheckResult]


class BoundedDoctor:
    """Examines all parts concurrently, and waits for each of them for a limited time.

    Args:
        patience: the time limit in seconds.
    """

    def __init__(self, doctor: Doctor, clock: Clock, *, patience: float = PATIENCE_SECONDS) -> None:
        parts = {name: _whole(check) for name, check in doctor.parts().items()}
        self._calls = BoundedCalls(parts, patience, "doctor")
        self._dependent = doctor.dependent
        self._clock = clock
        self._lock = Lock()
        self._last: Examination | None = None

    def examine(self, since: int | None = None) -> Examination:
        """Return an examination that is at most a minute old.

        Args:
            since: examine again if the last examination is older; in milliseconds since the Unix epoch.
        """
        with self._lock:
            now = self._clock.now()
            oldest = now - FRESH if since is None else min(since, now)
            # If the clock was set back, the last examination counts as expired.
            if self._last is None or not oldest <= self._last.examined_at <= now:
                self._last = Examination(now, self._results())
            return self._last

    def close(self) -> None:
        """Stop the threads, without waiting for checks that hang."""
        self._calls.close()

    def _results(self) -> list[CheckResult]:
        calls = self._calls.results()
        results = {name: _get_results(name, call) for name, call in calls.items()}
        if has_base_fault(results[DATABASE_PART]):
            results = {name: each for name, each in results.items() if name not in self._dependent}
        every = [result for each in results.values() for result in each]
        return sorted(every, key=lambda result: _ORDER.index(result.state))


def _whole(check: Check) -> Callable[[], list[CheckResult]]:
    return lambda: list(check())


def _get_results(part: str, call: "Future[list[CheckResult]] | None") -> list[CheckResult]:
    if call is None:
        return [failed(part, "does not respond", "see the log of the server, and of the service")]
    error = call.exception()
    if error is None:
        return call.result()
    # Only the class, because the text may contain secrets.
    remedy = "see the database first, or else run: strongroom doctor"
    return [failed(part, f"could not be examined: {type(error).__name__}", remedy)]
