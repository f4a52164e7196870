"""Removes the bytes of rows that nothing refers to, and then the rows."""

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
"""Milliseconds after which an upload that has not ended is taken for dead."""

_BATCH: Final = 500


class BlobRemoval:
    """Removes what was discarded.

    Args:
        database: where rows are kept.
        clock: the time.
        storages: the named storages.
        holds: while there is one, nothing is removed.
    """

    def __init__(
        self, database: Database, clock: Clock, storages: Stores, holds: DeletionLeases
    ) -> None:
        self._database = database
        self._clock = clock
        self._storages = storages
        self._holds = holds

    def collectable(self) -> int:
        """Return how many blobs a collection would remove now."""
        self._give_up_abandoned()
        query = select(func.count()).select_from(blobs).where(*self._is_removable())
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def collect(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Remove discarded bytes and abandoned uploads, and return how many there were.

        What a storage that is away, or is no longer configured, does not remove waits for the next
        collection.
        """
        self._give_up_abandoned()
        return self.sweep(progress)

    def sweep(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Remove the discarded bytes that need not stay any longer, and return how many there were."""
        removed = 0
        for batch in self._removable():
            removed += self.remove(batch)
            progress(len(batch))
        return removed

    def remove(self, released: Sequence[Released]) -> int:
        """Remove bytes and rows as far as that succeeds now, and return how many those were."""
        # Asked after they were released: what was released before a hold, its holder does without.
        if self._holds.any():
            return 0
        return sum(map(self._removed, released))

    def _removed(self, released: Released) -> bool:
        place = released.place
        try:
            self._storages[place.storage].delete(place.object_key)
            with self._database.write() as connection:
                gone = connection.execute(delete(blobs).where(blobs.c.key == released.key))
        except (StorageError, Unavailable) as error:
            logger.warning("Blob %s is left to be collected: %s", released.key, error)
            return False
        return gone.rowcount == 1

    def _give_up_abandoned(self) -> None:
        deadline = self._clock.now() - ABANDONED_AFTER
        with self._database.write() as connection:
            connection.execute(
                update(blobs)
                .where(blobs.c.state == BlobState.PENDING.value, blobs.c.created_at < deadline)
                .values(state=BlobState.DISCARDED.value)
            )

    def _removable(self) -> Iterator[list[Released]]:
        batch = self._removable_after("")
        while batch:
            yield batch
            batch = self._removable_after(batch[-1].key)

    def _is_removable(self) -> tuple[ColumnElement[bool], ...]:
        return (
            blobs.c.state == BlobState.DISCARDED.value,
            or_(blobs.c.removable_at.is_(None), blobs.c.removable_at <= self._clock.now()),
            # What something refers to is never removed, whoever released it by mistake.
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
