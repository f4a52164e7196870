"""Metrics of the whole installation, which are read from the database: the same on each instance."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from strongroom.activity.events.positions import Positions
from strongroom.content.tenants.quota import totals
from strongroom.extensions.observability.families import Family, Sample
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import last_backup_at
from strongroom.foundation.errors import StrongroomError
from strongroom.foundation.jobs.leases import JobLeases
from strongroom.identity.users.service import count_users

USERS: Final = Family("strongroom_users", "Users that are not deleted.")
TENANTS: Final = Family("strongroom_tenants", "Tenants that are not deleted.")
STORED: Final = Family(
    "strongroom_stored_bytes", "Bytes that count against quotas, with versions and the trash."
)
JOB_SUCCEEDED: Final = Family(
    "strongroom_job_last_success_timestamp_seconds",
    "When a recurring job last succeeded on any instance, in seconds since the Unix epoch.",
    ("name",),
)
JOB_FAILED: Final = Family(
    "strongroom_job_failed", "1 if the last run of a recurring job failed.", ("name",)
)
BACKUP: Final = Family(
    "strongroom_backup_last_success_timestamp_seconds",
    "When `strongroom backup create` last succeeded, in seconds since the Unix epoch.",
)
SINK_FAILING: Final = Family(
    "strongroom_event_streams_failing", "Streams whose delivery to a sink of a plugin fails.", ("sink",)
)
SINK_DEAD: Final = Family(
    "strongroom_event_dead_letters", "Events that a sink of a plugin did not accept.", ("sink",)
)
REPLICA_AGE: Final = Family(
    "strongroom_replica_age_seconds",
    "Age of the newest change that the replica has; 0 if it has all changes. Absent while it is away.",
)
TOTAL_FAMILIES: Final = (
    USERS,
    TENANTS,
    STORED,
    JOB_SUCCEEDED,
    JOB_FAILED,
    BACKUP,
    SINK_FAILING,
    SINK_DEAD,
    REPLICA_AGE,
)

COUNTED_SECONDS: Final = 300.0
"""How long the numbers of users and tenants are kept, because counting reads an index completely."""

Samples = list[tuple[Family, list[Sample]]]


@dataclass(frozen=True, slots=True)
class ServerSize:
    """The size of the installation.

    Args:
        users: the users that are not deleted.
        tenants: the tenants that are not deleted.
        stored_bytes: the bytes that count against quotas.
    """

    users: int
    tenants: int
    stored_bytes: int


class SizeCounter:
    """ServerSize, and remembers the result for a while, because counting reads an index completely.

    Args:
        seconds: how long the result is remembered.
        now: a monotonic clock in seconds.
    """

    def __init__(
        self, database: Database, seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._seconds = seconds
        self._now = now
        self._counted: tuple[float, ServerSize] | None = None

    def count(self) -> ServerSize:
        """Return the size of the installation."""
        now = self._now()
        if self._counted is None or now - self._counted[0] >= self._seconds:
            with self._database.read() as connection:
                self._counted = now, ServerSize(count_users(connection), *totals(connection))
        return self._counted[1]


class Totals:
    """Reads the metrics of the installation. None are reported while the database is unavailable.

    Args:
        now: a monotonic clock in seconds.
    """

    def __init__(
        self,
        database: Database,
        jobs: JobLeases,
        positions: Positions,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._jobs = jobs
        self._positions = positions
        self._counter = SizeCounter(database, COUNTED_SECONDS, now)

    def __call__(self) -> Iterator[tuple[Family, list[Sample]]]:
        """Yield the metrics."""
        try:
            families = [*self._counts(), *self._states()]
        except (StrongroomError, SQLAlchemyError):
            # The part "database" is reported as unavailable.
            return
        yield from families

    def _counts(self) -> Samples:
        counts = self._counter.count()
        return [
            (USERS, [((), counts.users)]),
            (TENANTS, [((), counts.tenants)]),
            (STORED, [((), counts.stored_bytes)]),
        ]

    def _states(self) -> Iterator[tuple[Family, list[Sample]]]:
        jobs = [*self._jobs.states().values()]
        succeeded = [(job.name, job.succeeded_at) for job in jobs]
        yield JOB_SUCCEEDED, [((name,), at / 1000) for name, at in succeeded if at is not None]
        yield JOB_FAILED, [((job.name,), int(job.has_failed)) for job in jobs]
        with self._database.read() as connection:
            backup = last_backup_at(connection)
        yield BACKUP, [] if backup is None else [((), backup / 1000)]
        sinks = self._positions.sinks()
        failing = [position.sink for position in self._positions.failing()]
        dead = [letter.sink for letter in self._positions.dead_letters()]
        yield SINK_FAILING, [((sink,), failing.count(sink)) for sink in sinks]
        yield SINK_DEAD, [((sink,), dead.count(sink)) for sink in sinks]
        yield REPLICA_AGE, self._replica_age()

    def _replica_age(self) -> list[Sample]:
        with suppress(SQLAlchemyError):
            state = self._database.examine_replica()
            if state is not None and state.fault is None:
                return [((), state.age)]
        return []
