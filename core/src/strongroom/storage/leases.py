"""Deletion leases: while one exists, no object is deleted from any storage.

A deletion checks for leases after it committed the release of its rows. A backup reads the rows after it
committed its lease. So a deletion that misses the lease released its rows before the backup read them,
and the backup does not include them.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import delete, exists, insert, select, update

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.ids import new_id
from strongroom.storage.models import blob_holds

LIFETIME: Final = 10 * 60 * 1000
"""Milliseconds after which a lease expires unless renewed, because its process is taken for dead."""

# A renewal is a write to the database, so most calls of ``renew`` skip it.
_RENEWED_AFTER: Final = 30 * 1000


class LeaseLost(Exception):
    """A lease expired while it was in use, because its process stalled for longer than its lifetime."""


class DeletionLease:
    """A lease that exists as long as it is renewed.

    Creating one also deletes the expired leases.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._id = new_id()
        self._renewed_at = clock.now()
        row = {"id": self._id, "expires_at": self._renewed_at + LIFETIME}
        with database.write() as connection:
            connection.execute(delete(blob_holds).where(blob_holds.c.expires_at <= self._renewed_at))
            connection.execute(insert(blob_holds).values(row))

    def renew(self) -> None:
        """Extend the lease; cheap to call often, because it writes at most every 30 seconds.

        Raises:
            LeaseLost: the lease has expired.
        """
        now = self._clock.now()
        if now < self._renewed_at + _RENEWED_AFTER:
            return
        # An expired lease is never revived: objects may have been deleted since it expired.
        statement = (
            update(blob_holds)
            .where(blob_holds.c.id == self._id, blob_holds.c.expires_at > now)
            .values(expires_at=now + LIFETIME)
        )
        with self._database.write() as connection:
            if connection.execute(statement).rowcount != 1:
                raise LeaseLost("the deletion lease expired, so objects may have been deleted")
        self._renewed_at = now

    def end(self) -> None:
        """Delete the lease."""
        with self._database.write() as connection:
            connection.execute(delete(blob_holds).where(blob_holds.c.id == self._id))


class DeletionLeases:
    """The leases of all processes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @contextmanager
    def hold(self) -> Iterator[DeletionLease]:
        """Prevent deletions from all storages until the block ends."""
        lease = DeletionLease(self._database, self._clock)
        try:
            yield lease
        finally:
            lease.end()

    def any(self) -> bool:
        """Return whether a lease exists that has not expired."""
        living = exists().where(blob_holds.c.expires_at > self._clock.now())
        with self._database.read() as connection:
            return bool(connection.execute(select(living)).scalar())
