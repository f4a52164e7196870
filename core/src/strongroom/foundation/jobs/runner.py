"""Runs due jobs: one thread per serving process, and ``strongroom jobs run``."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from strongroom.clock import Clock
from strongroom.foundation.errors import StrongroomError
from strongroom.foundation.jobs.leases import LEASE, JobLease, JobLeases
from strongroom.foundation.jobs.models import MAX_FAILURE, JobState
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.tracing import root_span

logger = logging.getLogger(__name__)

_LONGEST_WAIT: Final = 60.0
_RETRY_SECONDS: Final = 5.0
_RENEWALS: Final = 3
_STOP_SECONDS: Final = 10.0

Observer = Callable[[str, bool, float], None]
"""Receives the name of a job, whether its run succeeded, and its duration in seconds."""


class JobRunning(Exception):
    """The job runs in another process."""


@dataclass(slots=True)
class CurrentRun:
    """Implements :class:`strongroom.plugin_api.jobs.JobRun`."""

    stopping: threading.Event
    is_lost: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def should_stop(self) -> bool:
        """Whether the server stops, or the lease was lost."""
        return self.stopping.is_set() or self.is_lost


def milliseconds(job: Job) -> int:
    """Return the interval of a job in milliseconds."""
    return int(job.every.total_seconds() * 1000)


class JobRunner:
    """Runs the jobs of one process.

    Args:
        jobs: the jobs by their names, such as ``acme.prune``.
        observe: is called after each run.
    """

    def __init__(
        self, leases: JobLeases, jobs: Mapping[str, Job], clock: Clock, observe: Observer | None = None
    ) -> None:
        self._leases = leases
        self._jobs = jobs
        self._clock = clock
        self._observe = observe or (lambda *_: None)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="jobs", daemon=True)

    def start(self) -> None:
        """Start the thread, if there are jobs."""
        if self._jobs:
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread. A run that does not end within 10 seconds is repeated by another server."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def register(self) -> None:
        """Add the jobs to the database.

        Raises:
            Unavailable: the database does not respond.
        """
        self._leases.register((name, milliseconds(job)) for name, job in self._jobs.items())

    def run_due(self) -> float:
        """Run each job that is due and that no other process runs; return the seconds to the next one.

        Raises:
            Unavailable: the database does not respond.
        """
        for name in self._due(self._leases.states()):
            if not self._stopping.is_set() and (lease := self._leases.claim(name)):
                self._run(lease)
        return self._seconds_to_next(self._leases.states())

    def run_now(self, name: str) -> bool:
        """Run a job, even if it is not due, and return whether it succeeded.

        Raises:
            JobRunning: another process runs it.
            Unavailable: the database does not respond.
        """
        self.register()
        lease = self._leases.claim(name, even_if_not_due=True)
        if lease is None:
            raise JobRunning
        return self._run(lease)

    def _loop(self) -> None:
        is_registered = False
        while not self._stopping.is_set():
            try:
                if not is_registered:
                    self.register()
                    is_registered = True
                seconds = self.run_due()
            # The thread must survive an outage of the database, because nothing would start it again.
            except (StrongroomError, SQLAlchemyError) as error:
                logger.warning("Jobs cannot run, trying again: %s", type(error).__name__)
                seconds = _RETRY_SECONDS
            self._stopping.wait(seconds)

    def _due(self, states: Mapping[str, JobState]) -> list[str]:
        now = self._clock.now()
        known = (states[name] for name in self._jobs if name in states)
        due = [state for state in known if state.due_at <= now and not state.is_running(now)]
        return [state.name for state in sorted(due, key=lambda state: state.due_at)]

    def _seconds_to_next(self, states: Mapping[str, JobState]) -> float:
        now = self._clock.now()
        times = (
            # A job that another process runs is looked at again when its lease ends: that process may
            # have been killed.
            max(states[name].due_at, states[name].lease_until or 0) - now
            for name in self._jobs
            if name in states
        )
        # At most a minute, because another process may have registered a shorter interval.
        return min(max(min(times, default=0) / 1000, 0.0), _LONGEST_WAIT)

    def _run(self, lease: JobLease) -> bool:
        job, begun = self._jobs[lease.job], time.monotonic()
        failure: str | None = None
        with self._renewing(lease) as current:
            try:
                with root_span(f"job {lease.job}"):
                    job.run(current)
            except Exception as error:
                logger.exception("The job %s failed", lease.job)
                # Without the text of the error, which may contain secrets; the log has it.
                failure = type(error).__name__[:MAX_FAILURE]
        self._observe(lease.job, failure is None, time.monotonic() - begun)
        if not self._leases.end(lease, milliseconds(job), failure):
            logger.warning("The job %s lost its lease, so it may have run twice", lease.job)
        return failure is None

    @contextmanager
    def _renewing(self, lease: JobLease) -> Iterator[CurrentRun]:
        """Renew a lease in another thread until the block ends."""
        current = CurrentRun(self._stopping)
        thread = threading.Thread(
            target=self._renew, args=(lease, current), name="job-lease", daemon=True
        )
        thread.start()
        try:
            yield current
        finally:
            current.ended.set()
            thread.join()

    def _renew(self, lease: JobLease, current: CurrentRun) -> None:
        # Measured by the monotonic clock: the time of the machine may be set while the job runs.
        held_until = time.monotonic() + LEASE / 1000
        while not current.ended.wait(LEASE / 1000 / _RENEWALS):
            # Taken before the statement, so that this process never believes in its lease for longer
            # than the row grants it.
            renewed_at = time.monotonic()
            try:
                current.is_lost = not self._leases.renew(lease)
                held_until = renewed_at + LEASE / 1000
            except (StrongroomError, SQLAlchemyError):
                # Unknown whether the renewal was stored; until the former end, no other process can
                # claim the job.
                current.is_lost = time.monotonic() >= held_until
