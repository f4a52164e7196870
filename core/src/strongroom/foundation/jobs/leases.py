"""Leases of jobs: at most one process runs a job at a time.

A process claims a due job by a conditional UPDATE of its row, which only one process can win. The lease
has an end, so that a job of a process that was killed becomes due again; a run that continues renews it.
Every write of a run names its holder, so that a run whose lease has passed to another changes nothing.
"""

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, case, or_, select, update

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.ids import new_id
from strongroom.foundation.jobs.models import JobState, job_state, jobs

LEASE: Final = 60_000
"""Milliseconds after which the job of a process that was killed may run again."""

_ALL: Final = Statement(select(jobs).order_by(jobs.c.name), job_state)
_REGISTER: Final = Statement(
    for_each_dialect(
        jobs,
        lambda insert: insert.values(
            name=bindparam("name"), due_at=bindparam("due_at")
        ).on_conflict_do_update(
            index_elements=["name"],
            # A job whose interval was shortened is not due after the former interval.
            set_={
                "due_at": case(
                    (insert.excluded.due_at < jobs.c.due_at, insert.excluded.due_at),
                    else_=jobs.c.due_at,
                )
            },
        ),
    )
)
# One UPDATE checks and claims. A process that waits for the row of another claim evaluates the
# condition again afterwards, and finds the lease taken.
_CLAIM: Final = Statement(
    update(jobs)
    .where(
        jobs.c.name == bindparam("wanted"),
        jobs.c.due_at <= bindparam("due_before"),
        or_(jobs.c.lease_until.is_(None), jobs.c.lease_until <= bindparam("now")),
    )
    .values(holder=bindparam("new_holder"), lease_until=bindparam("until"), started_at=bindparam("now"))
)
_HELD = (jobs.c.name == bindparam("wanted"), jobs.c.holder == bindparam("own"))
_RENEW: Final = Statement(update(jobs).where(*_HELD).values(lease_until=bindparam("until")))
_SUCCEED: Final = Statement(
    update(jobs)
    .where(*_HELD)
    .values(lease_until=None, due_at=bindparam("next_due"), succeeded_at=bindparam("now"))
)
_FAIL: Final = Statement(
    update(jobs)
    .where(*_HELD)
    .values(
        lease_until=None,
        due_at=bindparam("next_due"),
        failed_at=bindparam("now"),
        failure=bindparam("reason"),
    )
)

_ANY_TIME: Final = 2**62


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run a job, which began at ``started_at``."""

    job: str
    holder: str
    started_at: int


class JobLeases:
    """The rows of all jobs.

    All methods raise ``Unavailable`` if the database does not respond.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def states(self) -> Mapping[str, JobState]:
        """Return the state of all jobs that were ever registered, by name."""
        with self._database.read_one() as connection:
            return {state.name: state for state in _ALL.all(connection)}

    def register(self, intervals: Iterable[tuple[str, int]]) -> None:
        """Add jobs by their names and intervals in milliseconds; a new one is due after its interval."""
        now = self._clock.now()
        with self._database.write() as connection:
            for name, every in intervals:
                _REGISTER.execute(connection, {"name": name, "due_at": now + every})

    def claim(self, job: str, *, even_if_not_due: bool = False) -> Lease | None:
        """Begin a run, or return ``None`` if the job is not due or another run has not ended."""
        now = self._clock.now()
        # Host and process are for operators; the id makes each run of a process a holder of its own.
        holder = f"{socket.gethostname()[:180]}:{os.getpid()}:{new_id()}"
        parameters = {
            "wanted": job,
            "due_before": _ANY_TIME if even_if_not_due else now,
            "now": now,
            "until": now + LEASE,
            "new_holder": holder,
        }
        with self._database.write() as connection:
            claimed = _CLAIM.execute(connection, parameters)
        return Lease(job, holder, now) if claimed else None

    def renew(self, lease: Lease) -> bool:
        """Extend a lease, and return whether the run still holds it."""
        parameters = {"wanted": lease.job, "own": lease.holder, "until": self._clock.now() + LEASE}
        # A lost renewal only ends the lease earlier.
        with self._database.write(durable=False) as connection:
            return bool(_RENEW.execute(connection, parameters))

    def end(self, lease: Lease, every: int, failure: str | None) -> bool:
        """End a run, and return whether it held its lease to the end.

        Args:
            lease: the lease of the run.
            every: the interval of the job in milliseconds.
            failure: the class of the error, or ``None`` if the run succeeded.
        """
        parameters = {
            "wanted": lease.job,
            "own": lease.holder,
            "now": self._clock.now(),
            # Counted from the start of the run, so that long runs do not shift the schedule.
            "next_due": lease.started_at + every,
        }
        with self._database.write() as connection:
            if failure is None:
                return bool(_SUCCEED.execute(connection, parameters))
            return bool(_FAIL.execute(connection, {**parameters, "reason": failure}))
