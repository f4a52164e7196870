"""Moves blobs from one named storage to another while servers read and write them.

Each blob is copied to an object with a new key, which has a pending row of its own. Then one transaction
exchanges the locations of the two rows. So every object has a row even after a crash, concurrent
migrations are safe, and moving back works the same way.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, and_, delete, func, insert, select, update

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom.storage.models import BlobLocation, BlobState, blobs
from strongroom.storage.service import BlobService
from strongroom.storage.streams import BandwidthLimiter, copy_object

_BATCH: Final = 200
_ATTEMPTS: Final = 6


class Outcome(StrEnum):
    """The result of moving one blob."""

    MOVED = "moved"
    GONE = "gone"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Move:
    """The parameters of a migration.

    Args:
        source: the name of the storage to empty.
        target: the name of the storage to fill.
        grace: milliseconds before an old object is deleted, because requests that already read its
            location may still open it.
        jobs: the number of blobs copied concurrently.
        pace: limits the bandwidth.
    """

    source: str
    target: str
    grace: int
    jobs: int = 4
    pace: BandwidthLimiter = field(default_factory=lambda: BandwidthLimiter(None))


@dataclass(slots=True)
class Report:
    """The result of a migration.

    Args:
        moved: the number of blobs moved to the target.
        damaged: keys of blobs that were not moved, because their objects are missing or have a
            different checksum.
    """

    moved: int = 0
    damaged: list[str] = field(default_factory=list)


class Migration:
    """Moves all blobs that a storage has when the migration starts.

    Args:
        service: the storages and their rows.
        sleep: waits for a number of seconds while a storage is unavailable.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        service: BlobService,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._database = database
        self._clock = clock
        self._service = service
        self._sleep = sleep

    def remaining(self, source: str) -> int:
        """Return the number of stored blobs in a storage."""
        query = select(func.count()).where(_stored_in(source))
        with self._database.read() as connection:
            count: int = connection.execute(query).scalar_one()
        return count

    def run(self, move: Move, progress: Callable[[int], object] = lambda _: None) -> Report:
        """Move all blobs; ``progress`` is called with the number of blobs processed since its last call.

        Raises:
            StorageUnavailable: a storage remained unavailable; another run continues from here.
        """
        report, until = Report(), self._clock.now()
        # Uploads that were pending during one pass may be stored by the next, so repeat until a pass
        # moves nothing. Damaged blobs are found again by each pass.
        while self._pass(move, until, report, progress):
            report.damaged.clear()
        self._service.sweep()
        return report

    def _pass(self, move: Move, until: int, report: Report, progress: Callable[[int], object]) -> bool:
        before = report.moved
        pool = ThreadPoolExecutor(move.jobs)
        try:
            for batch in self._batches(move.source, until):
                # Only this thread updates the report; the workers just return outcomes.
                outcomes = pool.map(lambda row: self._move_with_retries(move, row), batch)
                for row, outcome in zip(batch, outcomes, strict=True):
                    report.moved += outcome is Outcome.MOVED
                    if outcome is Outcome.DAMAGED:
                        report.damaged.append(row.key)
                    progress(1)
                self._service.sweep()
        finally:
            # After an error, do not start the copies that are still queued.
            pool.shutdown(cancel_futures=True)
        return report.moved > before

    def _batches(self, source: str, until: int) -> Iterator[list[Row[Any]]]:
        key = ""
        while batch := self._batch_after(source, until, key):
            yield batch
            key = batch[-1].key

    def _batch_after(self, source: str, until: int, key: str) -> list[Row[Any]]:
        wanted = (_stored_in(source), blobs.c.key > key, blobs.c.created_at <= until)
        query = select(blobs).where(*wanted).order_by(blobs.c.key).limit(_BATCH)
        with self._database.read() as connection:
            return list(connection.execute(query).all())

    def _move_with_retries(self, move: Move, row: Row[Any]) -> Outcome:
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._move(move, row)
            except StorageUnavailable as error:
                self._sleep(error.retry_after)
        return self._move(move, row)

    def _move(self, move: Move, row: Row[Any]) -> Outcome:
        key = self._service.announce(move.target)
        try:
            is_whole = self._copy(move, row, key)
            if is_whole and self._exchange(move, row, key):
                return Outcome.MOVED
        except BaseException:
            self._service.discard(key)
            raise
        self._service.discard(key)
        return Outcome.DAMAGED if self._still_has(row) else Outcome.GONE

    def _copy(self, move: Move, row: Row[Any], key: str) -> bool:
        storages = self._service.storages
        source, target = storages[move.source], storages[move.target]
        try:
            copied = copy_object(source, row.object_key, target, key, size=row.size, pace=move.pace)
        except ObjectNotFound:
            return False
        return bool(copied == row.checksum)

    def _exchange(self, move: Move, row: Row[Any], key: str) -> bool:
        """Exchange the locations of the two rows, unless the blob was deleted or moved concurrently.

        Raises:
            StorageError: the pending row of the copy was discarded because the copy took too long.
        """
        old, new = BlobLocation(move.source, row.object_key), BlobLocation(move.target, key)
        with self._database.write() as connection:
            mine = (blobs.c.key == key, blobs.c.state == BlobState.PENDING.value)
            # Delete the pending row first: the location of the copy must be unique in the table.
            if connection.execute(delete(blobs).where(*mine)).rowcount != 1:
                raise StorageError("the copy took too long and was discarded")
            moved = connection.execute(update(blobs).where(_is_still(row)).values(_at(new))).rowcount
            # The row of the copy now has the object to delete: the old one, or an unused copy.
            leftover = {
                "key": key,
                "state": BlobState.DISCARDED.value,
                "created_at": self._clock.now(),
                "removable_at": self._clock.now() + move.grace if moved else None,
                **_at(old if moved else new),
            }
            connection.execute(insert(blobs).values(leftover))
        return bool(moved)

    def _still_has(self, row: Row[Any]) -> bool:
        with self._database.read() as connection:
            return connection.execute(select(blobs.c.key).where(_is_still(row))).first() is not None


def _stored_in(storage: str) -> ColumnElement[bool]:
    return and_(blobs.c.storage == storage, blobs.c.state == BlobState.STORED.value)


def _is_still(row: Row[Any]) -> ColumnElement[bool]:
    place = and_(blobs.c.storage == row.storage, blobs.c.object_key == row.object_key)
    return and_(blobs.c.key == row.key, blobs.c.state == BlobState.STORED.value, place)


def _at(place: BlobLocation) -> dict[str, str]:
    return {"storage": place.storage, "object_key": place.object_key}
