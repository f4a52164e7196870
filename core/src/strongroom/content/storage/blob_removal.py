"""Removes released blobs, unless a deletion lease protects them.

A deletion checks for leases after it committed the release of its rows. A backup reads the rows after it
committed its lease. So a deletion that misses the lease released its rows before the backup read them,
and the backup does not include them.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, or_, select, update

from strongroom.clock import Clock
from strongroom.content.storage.models import (
    RELEASED,
    BlobState,
    Released,
    blobs,
    deletion_leases,
    is_unreferenced,
    released,
)
from strongroom.content.storage.stores import ObjectLocked, Stores
from strongroom.foundation.database import Database
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.statements import Statement, dynamic
from strongroom.foundation.errors import Unavailable
from strongroom.foundation.ids import new_id
from strongroom.plugin_api.storage import StorageError

LIFETIME: Final = 10 * 60 * 1000
"""Milliseconds after which a lease expires unless renewed, because its process is taken for dead."""

# A renewal is a write to the database, so most calls of ``renew`` skip it.
_RENEWED_AFTER: Final = 30 * 1000


# A row is a lease, and nothing else.
_LEASES: Final = deletion_leases.c
_ROW: Final = RowLease(owner=_LEASES.id, until=_LEASES.expires_at, milliseconds=LIFETIME)
_FORGET_EXPIRED: Final = Statement(delete(deletion_leases).where(_ROW.is_over))
_ADD: Final = Statement(insert(deletion_leases).values(_ROW.claimed))
# An expired lease is never revived: objects may have been deleted since it expired.
_RENEW: Final = Statement(_ROW.renew().where(_ROW.is_running))
_END: Final = Statement(delete(deletion_leases).where(_ROW.is_owned))
_LIVING: Final = Statement(select(deletion_leases.c.id).where(_ROW.is_running).limit(1))


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
        row = {"owner": self._id, **_ROW.term(self._renewed_at)}
        # Durable: a backup relies on its lease also if the machine of the database restarts in
        # between.
        with database.write() as connection:
            _FORGET_EXPIRED.execute(connection, row)
            _ADD.execute(connection, row)

    def renew(self) -> None:
        """Extend the lease; cheap to call often, because it writes at most every 30 seconds.

        Raises:
            LeaseLost: the lease has expired.
        """
        now = self._clock.now()
        if now < self._renewed_at + _RENEWED_AFTER:
            return
        with self._database.write() as connection:
            if _RENEW.execute(connection, {"owner": self._id, **_ROW.term(now)}) != 1:
                raise LeaseLost("the deletion lease expired, so objects may have been deleted")
        # Only after the commit, so that the next call repeats a renewal that failed.
        self._renewed_at = now

    def end(self) -> None:
        """Delete the lease."""
        with self._database.write() as connection:
            _END.execute(connection, {"owner": self._id})


@dataclass(slots=True, eq=False, repr=False)
class DeletionLeases:
    """The leases of all processes."""

    _database: Database
    _clock: Clock

    @contextmanager
    def lease(self) -> Iterator[DeletionLease]:
        """Prevent deletions from all storages until the block ends."""
        lease = DeletionLease(self._database, self._clock)
        try:
            yield lease
        finally:
            lease.end()

    def any(self) -> bool:
        """Return whether a lease exists that has not expired."""
        with self._database.read() as connection:
            return _LIVING.scalar(connection, {"now": self._clock.now()}) is not None


logger = logging.getLogger(__name__)

ABANDONED_AFTER: Final = 24 * 3600 * 1000
"""Milliseconds after which a pending blob is taken for abandoned."""

_BATCH: Final = 500

_FORGET_BLOB: Final = Statement(delete(blobs).where(blobs.c.key == bindparam("of_key")))
_POSTPONE: Final = Statement(
    update(blobs).where(blobs.c.key == bindparam("of_key")).values(removable_at=bindparam("until"))
)
_DISCARD_ABANDONED: Final = Statement(
    update(blobs)
    .where(blobs.c.state == BlobState.PENDING.value, blobs.c.created_at < bindparam("deadline"))
    .values(state=BlobState.DISCARDED.value)
)


@dataclass(slots=True, eq=False, repr=False)
class BlobRemoval:
    """Deletes discarded blobs.

    Args:
        leases: the deletion leases; while one exists, nothing is deleted.
    """

    _database: Database
    _clock: Clock
    _storages: Stores
    _leases: DeletionLeases

    def collectable(self) -> int:
        """Mark abandoned uploads as discarded; return how many blobs :meth:`collect` would delete."""
        self._discard_abandoned()
        query = select(func.count()).select_from(blobs).where(*self._is_removable())
        with self._database.read() as connection:
            count: int = dynamic(query).scalar(connection)
        return count

    def collect(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Delete discarded blobs and abandoned uploads, and return how many were deleted.

        Blobs in a storage that is unavailable or not configured remain for the next collection.
        """
        self._discard_abandoned()
        return self.sweep(progress)

    def sweep(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Delete discarded blobs whose ``removable_at`` has passed, and return how many were deleted."""
        removed = 0
        for batch in self._removable():
            # Each batch checks for leases, because one may be created during a long collection.
            removed += self.remove(batch)
            progress(len(batch))
        return removed

    def remove(self, batch: Sequence[Released]) -> int:
        """Delete released objects and their rows, and return how many were deleted.

        Those whose deletion fails remain for the next collection.
        """
        # Check for leases only after the release is committed: a lease protects only blobs that are
        # released after it was created, see strongroom.content.storage.blob_removal.
        if self._leases.any():
            return 0
        return sum(map(self._remove_one, batch))

    def _remove_one(self, item: Released) -> bool:
        place = item.place
        # Delete the object before its row, so that a crash in between leaves a row to find it by.
        try:
            self._storages[place.storage].delete(place.object_key)
            with self._database.write() as connection:
                gone = _FORGET_BLOB.execute(connection, {"of_key": item.key})
        except ObjectLocked as error:
            self._postpone(item, error.until)
            return False
        except (StorageError, Unavailable) as error:
            logger.warning("Deletion of blob %s is left to the next collection: %s", item.key, error)
            return False
        # A concurrent collection may have deleted the row; it counts for one of them only.
        return gone == 1

    def _postpone(self, item: Released, until: int) -> None:
        logger.info("Blob %s is locked by its store", item.key)
        with self._database.write() as connection:
            _POSTPONE.execute(connection, {"of_key": item.key, "until": until})

    def _discard_abandoned(self) -> None:
        deadline = self._clock.now() - ABANDONED_AFTER
        with self._database.write() as connection:
            # An upload that commits at the same time changes the state, too: only one of both finds it
            # pending.
            _DISCARD_ABANDONED.execute(connection, {"deadline": deadline})

    def _removable(self) -> Iterator[list[Released]]:
        # Page by key, because rows whose deletion failed remain and must not be fetched again.
        batch = self._removable_after("")
        while batch:
            yield batch
            batch = self._removable_after(batch[-1].key)

    def _is_removable(self) -> tuple[ColumnElement[bool], ...]:
        return (
            blobs.c.state == BlobState.DISCARDED.value,
            or_(blobs.c.removable_at.is_(None), blobs.c.removable_at <= self._clock.now()),
            # Never delete a blob that is still referred to, even if a bug released it.
            is_unreferenced(),
        )

    def _removable_after(self, key: str) -> list[Released]:
        query = (
            select(*RELEASED)
            .where(*self._is_removable(), blobs.c.key > key)
            .order_by(blobs.c.key)
            .limit(_BATCH)
        )
        with self._database.read() as connection:
            return dynamic(query, released).all(connection)
