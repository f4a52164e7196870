"""Leases of jobs: at most one process runs a job at a time.

A process claims the row of a due job, and renews the lease while the job runs. Each run is an owner of
its own.
"""

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, and_, bindparam, case, func, select

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.metadata import Timestamp
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.ids import new_id
from strongroom.foundation.jobs.models import JobState, job_state, jobs

LEASE: Final = 60_000
"""Milliseconds after which the job of a process that was killed may run again."""

_ALL: Final = Statement(select(jobs).order_by(jobs.c.name), job_state)


def _is_earlier(due_at: ColumnElement[int]) -> ColumnElement[bool]:
    begins_interval = func.coalesce(jobs.c.started_at, 0) + bindparam("every", type_=Timestamp)
    return and_(due_at < jobs.c.due_at, due_at >= begins_interval)


_REGISTER: Final = Statement(
    for_each_dialect(
        jobs,
        lambda insert: insert.values(
            name=bindparam("name"), due_at=bindparam("due_at")
        ).on_conflict_do_update(
            index_elements=["name"],
            # A job whose interval was shortened is not due after the former interval. A server that
            # was slow to register its jobs brings no run forward that another one has scheduled.
            set_={
                "due_at": case(
                    (_is_earlier(insert.excluded.due_at), insert.excluded.due_at), else_=jobs.c.due_at
                )
            },
        ),
    )
)
_ROW: Final = RowLease(jobs.c.name, owner=jobs.c.holder, until=jobs.c.lease_until, milliseconds=LEASE)
_CLAIM: Final = Statement(
    _ROW.claim().where(jobs.c.due_at <= bindparam("due_before")).values(started_at=bindparam("now"))
)
_RENEW: Final = Statement(_ROW.renew())
_SUCCEED: Final = Statement(
    _ROW.end().values(due_at=bindparam("next_due"), succeeded_at=bindparam("now"))
)
_FAIL: Final = Statement(
    _ROW.end().values(
        due_at=bindparam("next_due"), failed_at=bindparam("now"), failure=bindparam("reason")
    )
)

_ANY_TIME: Final = 2**62


@dataclass(frozen=True, slots=True)
class JobLease:
    """The right to run a job, which began at ``started_at``."""

    job: str
    holder: str
    started_at: int


@dataclass(slots=True, eq=False, repr=False)
class JobLeases:
    """The rows of all jobs.

    All methods raise ``Unavailable`` if the database does not respond.
    """

    _database: Database
    _clock: Clock

    def states(self) -> Mapping[str, JobState]:
        """Return the state of all jobs that were ever registered, by name."""
        with self._database.read_one() as connection:
            return {state.name: state for state in _ALL.all(connection)}

    def register(self, intervals: Iterable[tuple[str, int]]) -> None:
        """Add jobs by their names and intervals in milliseconds; a new one is due after its interval."""
        now = self._clock.now()
        with self._database.write() as connection:
            for name, every in intervals:
                _REGISTER.execute(connection, {"name": name, "due_at": now + every, "every": every})

    def claim(self, job: str, *, even_if_not_due: bool = False) -> JobLease | None:
        """Begin a run, or return ``None`` if the job is not due or another run has not ended."""
        now = self._clock.now()
        # Host and process are for operators; the id makes each run of a process a holder of its own.
        lease = JobLease(job, f"{socket.gethostname()[:180]}:{os.getpid()}:{new_id()}", now)
        due_before = _ANY_TIME if even_if_not_due else now
        parameters = {**_key(lease), **_ROW.term(now), "due_before": due_before}
        with self._database.write() as connection:
            claimed = _CLAIM.execute(connection, parameters)
        return lease if claimed else None

    def renew(self, lease: JobLease) -> bool:
        """Extend a lease, and return whether the run still holds it."""
        # A lost renewal only ends the lease earlier.
        with self._database.write(durable=False) as connection:
            return bool(_RENEW.execute(connection, {**_key(lease), **_ROW.term(self._clock.now())}))

    def end(self, lease: JobLease, every: int, failure: str | None) -> bool:
        """End a run, and return whether it held its lease to the end.

        Args:
            every: the interval of the job in milliseconds.
            failure: the class of the error, or ``None`` if the run succeeded.
        """
        parameters = {
            **_key(lease),
            "now": self._clock.now(),
            # Counted from the start of the run, so that long runs do not shift the schedule.
            "next_due": lease.started_at + every,
        }
        with self._database.write() as connection:
            if failure is None:
                return bool(_SUCCEED.execute(connection, parameters))
            return bool(_FAIL.execute(connection, {**parameters, "reason": failure}))


def _key(lease: JobLease) -> dict[str, object]:
    return {"of_name": lease.job, "owner": lease.holder}
