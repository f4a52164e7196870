"""Holds: while there is one, no bytes are removed from any storage.

Whoever removes bytes asks for holds after the rows were released, and whoever copies bytes reads the
rows after the hold is there. So bytes that are removed all the same were released before those rows
were read.
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
"""Milliseconds after which a hold that was not renewed ends: whoever held has died."""

_RENEWED_AFTER: Final = 30 * 1000


class LeaseLost(Exception):
    """A hold ended while it was needed: its holder stood still for too long."""


class DeletionLease:
    """A hold that lives as long as it is renewed."""

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
        """Let the hold live on; calling it often costs nothing.

        Raises:
            LeaseLost: it has ended.
        """
        now = self._clock.now()
        if now < self._renewed_at + _RENEWED_AFTER:
            return
        statement = (
            update(blob_holds)
            .where(blob_holds.c.id == self._id, blob_holds.c.expires_at > now)
            .values(expires_at=now + LIFETIME)
        )
        with self._database.write() as connection:
            if connection.execute(statement).rowcount != 1:
                raise LeaseLost("bytes may have been removed meanwhile")
        self._renewed_at = now

    def end(self) -> None:
        """End the hold."""
        with self._database.write() as connection:
            connection.execute(delete(blob_holds).where(blob_holds.c.id == self._id))


class DeletionLeases:
    """The holds of all processes."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    @contextmanager
    def hold(self) -> Iterator[DeletionLease]:
        """Keep all bytes where they are until the block ends."""
        hold = DeletionLease(self._database, self._clock)
        try:
            yield hold
        finally:
            hold.end()

    def any(self) -> bool:
        """Return whether there is a hold."""
        living = exists().where(blob_holds.c.expires_at > self._clock.now())
        with self._database.read() as connection:
            return bool(connection.execute(select(living)).scalar())
