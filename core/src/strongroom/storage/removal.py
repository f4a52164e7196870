"""Deletes the objects of discarded rows, and then the rows."""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sqlalchemy import ColumnElement, delete, func, or_, select, update

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.errors import Unavailable
from strongroom.plugin_api.storage import StorageError
from strongroom.storage.leases import DeletionLeases
from strongroom.storage.models import BlobLocation, BlobState, Released, blobs
from strongroom.storage.references import nobody_refers
from strongroom.storage.stores import Stores

logger = logging.getLogger(__name__)

ABANDONED_AFTER: Final = 24 * 3600 * 1000
"""Milliseconds after which a pending blob is taken for abandoned."""

_BATCH: Final = 500


class BlobRemoval:
    """Deletes discarded blobs.

    Args:
        storages: the named storages.
        holds: the deletion leases; while one exists, nothing is deleted.
    """

    def __init__(
        self, database: Database, clock: Clock, storages: Stores, holds: DeletionLeases
    ) -> None:
        self._database = database
        self._clock = clock
        self._storages = storages
        self._holds = holds

    def collectable(self) -> int:
        """Mark abandoned uploads as discarded; return how many blobs :meth:`collect` would delete."""
        self._discard_abandoned()
        query = select(func.count()).select_from(blobs).where(*self._is_removable())
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

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
            removed += self.remove(batch)
            progress(len(batch))
        return removed

    def remove(self, released: Sequence[Released]) -> int:
        """Delete released objects and their rows, and return how many were deleted.

        Those whose deletion fails remain for the next collection.
        """
        # Check for leases only after the release is committed: a lease protects only blobs that are
        # released after it was created, see strongroom.storage.leases.
        if self._holds.any():
            return 0
        return sum(map(self._remove_one, released))

    def _remove_one(self, released: Released) -> bool:
        place = released.place
        # Delete the object before its row, so that a crash in between leaves a row to find it by.
        try:
            self._storages[place.storage].delete(place.object_key)
            with self._database.write() as connection:
                gone = connection.execute(delete(blobs).where(blobs.c.key == released.key))
        except (StorageError, Unavailable) as error:
            logger.warning("Deletion of blob %s is left to the next collection: %s", released.key, error)
            return False
        # A concurrent collection may have deleted the row; it counts for one of them only.
        return gone.rowcount == 1

    def _discard_abandoned(self) -> None:
        deadline = self._clock.now() - ABANDONED_AFTER
        with self._database.write() as connection:
            connection.execute(
                update(blobs)
                .where(blobs.c.state == BlobState.PENDING.value, blobs.c.created_at < deadline)
                .values(state=BlobState.DISCARDED.value)
            )

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
            nobody_refers(),
        )

    def _removable_after(self, key: str) -> list[Released]:
        query = (
            select(blobs.c.key, blobs.c.storage, blobs.c.object_key)
            .where(*self._is_removable(), blobs.c.key > key)
            .order_by(blobs.c.key)
            .limit(_BATCH)
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return [Released(row.key, BlobLocation(row.storage, row.object_key)) for row in rows]
