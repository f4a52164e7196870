"""The recurring jobs of the core."""

from datetime import timedelta
from typing import Final

from strongroom.container.files import FileServices
from strongroom.container.identity import IdentityServices
from strongroom.container.infrastructure import PruneJob
from strongroom.plugin_api.jobs import Job, JobRun

PREFIX: Final = "core"
"""What the names of the core's jobs begin with, as those of a plugin begin with its name."""


def core_jobs(identity: IdentityServices, keeping: FileServices) -> dict[str, Job]:
    """Return the jobs of the core by their names, such as ``core.prune``."""
    jobs = (
        Job("prune", timedelta(days=1), lambda run: _prune(identity.prune_job, run)),
        Job("advance_retention_clock", timedelta(minutes=1), lambda _: keeping.retention_clock.tick()),
        Job("warn_of_ending_keys", timedelta(hours=1), lambda _: identity.access_keys.warn()),
    )
    return {f"{PREFIX}.{job.name}": job for job in jobs}


def _prune(steps: PruneJob, run: JobRun) -> None:
    for _ in steps.run():
        if run.should_stop:
            return
