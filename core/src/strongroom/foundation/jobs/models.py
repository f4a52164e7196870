"""The state of recurring jobs."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Column, String, Table

from strongroom.foundation.database.metadata import Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper

MAX_FAILURE: Final = 255


@dataclass(frozen=True, slots=True)
class JobState:
    """A row of :data:`jobs`; times in milliseconds since the Unix epoch.

    Args:
        name: the name of the plugin and of the job, such as ``acme.prune``.
        due_at: when the next run may start.
        holder: the process and the run that have the lease; ``None`` if no run is in progress.
        lease_until: when the lease ends unless it is renewed; ``None`` if no run is in progress.
        failure: the class of the last error.
    """

    name: str
    due_at: int
    holder: str | None = None
    lease_until: int | None = None
    started_at: int | None = None
    succeeded_at: int | None = None
    failed_at: int | None = None
    failure: str | None = None

    @property
    def has_failed(self) -> bool:
        """Whether the last completed run failed."""
        return self.failed_at is not None and self.failed_at > (self.succeeded_at or 0)

    def is_running(self, now: int) -> bool:
        """Return whether a run holds the lease."""
        return self.lease_until is not None and self.lease_until > now


jobs: Final = Table(
    "jobs",
    metadata,
    Column("name", String(128), primary_key=True),
    Column("due_at", Timestamp, nullable=False),
    Column("holder", String(255)),
    Column("lease_until", Timestamp),
    Column("started_at", Timestamp),
    Column("succeeded_at", Timestamp),
    Column("failed_at", Timestamp),
    Column("failure", String(MAX_FAILURE)),
)

job_state: Final = RowMapper(JobState, jobs)
