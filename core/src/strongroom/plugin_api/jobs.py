"""Recurring jobs of a plugin.

A job runs once per interval on all servers of one database together::

    @hookimpl
    def register_jobs(host: HostAPI) -> list[Job]:
        return [Job("prune", every=timedelta(hours=1), run=lambda run: prune(host, run))]
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Protocol

_NAME = re.compile(r"[a-z][a-z0-9_]{0,47}")
SHORTEST: Final = timedelta(seconds=1)
"""The shortest interval of a job."""


class JobRun(Protocol):
    """One run of a job."""

    @property
    def should_stop(self) -> bool:
        """Whether the run should end early.

        The server stops, or the run could not report for a minute, so that another server may have
        started the next one. A long job checks it between its steps.
        """


@dataclass(frozen=True, slots=True)
class Job:
    """A recurring job.

    Two runs never overlap, unless a server cannot reach the database for a minute and continues its
    run. A run whose server was killed is repeated a minute later, so that a job must be repeatable. A
    run that raises is recorded as failed, and the next one is due after the interval as usual.

    Args:
        name: the name within the plugin: lowercase letters, digits and underscores.
        every: the interval between the starts of two runs, at least one second. The first run is due
            one interval after a server first had the job.
        run: the function that runs the job. Each server has one thread for all jobs.

    Raises:
        ValueError: the name or the interval is invalid.
    """

    name: str
    every: timedelta
    run: Callable[[JobRun], object]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f'the name of the job "{self.name}" must be lowercase letters, digits, "_"')
        if self.every < SHORTEST:
            raise ValueError(f"the interval of the job {self.name} must be at least one second")
