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
from typing import Final

from sqlalchemy import Connection, and_, bindparam, delete, func, select, update

from strongroom.clock import Clock
from strongroom.content.storage.models import ADD_BLOB, BLOB_ROW, BlobLocation, BlobRow, BlobState, blobs
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import Store
from strongroom.content.storage.streams import BandwidthLimiter, copy_object
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.plugin_api.storage import (
    ObjectDamaged,
    ObjectNotFound,
    ScopedWrites,
    StorageError,
    StorageUnavailable,
)

_BATCH: Final = 200
_ATTEMPTS: Final = 6

_OF_KEY: Final = blobs.c.key == bindparam("of_key")
_STORED: Final = blobs.c.state == BlobState.STORED.value
_OF_SOURCE: Final = and_(blobs.c.storage == bindparam("source"), _STORED)
# The location is part of the condition, so that only one of two concurrent migrations of a
# blob exchanges it.
_UNCHANGED: Final = and_(
    _OF_KEY,
    _STORED,
    blobs.c.storage == bindparam("of_storage"),
    blobs.c.object_key == bindparam("of_object_key"),
)
_COUNT: Final = Statement(select(func.count()).where(_OF_SOURCE))
_BATCH_AFTER: Final = Statement(
    select(blobs)
    .where(_OF_SOURCE, blobs.c.key > bindparam("after"), blobs.c.created_at <= bindparam("until"))
    .order_by(blobs.c.key)
    .limit(_BATCH),
    BLOB_ROW,
)
_DELETE_PENDING: Final = Statement(
    delete(blobs).where(_OF_KEY, blobs.c.state == BlobState.PENDING.value)
)
_MOVE: Final = Statement(
    update(blobs).where(_UNCHANGED).values(storage=bindparam("target"), object_key=bindparam("copy"))
)
_FIND_UNCHANGED: Final = Statement(select(blobs.c.key).where(_UNCHANGED))


class Outcome(StrEnum):
    """The result of moving one blob."""

    MOVED = "moved"
    GONE = "gone"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class MigrationPlan:
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
class MigrationReport:
    """The result of a migration.

    Args:
        moved: the number of blobs moved to the target.
        damaged: keys of blobs that were not moved, because their objects are missing or have a
            different checksum.
    """

    moved: int = 0
    damaged: list[str] = field(default_factory=list)


@dataclass(slots=True, eq=False, repr=False)
class Migration:
    """Moves all blobs that a storage has when the migration starts.

    Args:
        sleep: waits for a number of seconds while a storage is unavailable.
        scope_of: returns the id of the tenant that a blob belongs to, if any.
    """

    _database: Database
    _clock: Clock
    _service: BlobService
    _sleep: Callable[[float], object] = time.sleep
    scope_of: Callable[[Connection, str], str | None] = lambda _connection, _key: None

    def remaining(self, source: str) -> int:
        """Return the number of stored blobs in a storage."""
        with self._database.read() as connection:
            count: int = _COUNT.scalar(connection, {"source": source})
        return count

    def run(
        self, move: MigrationPlan, progress: Callable[[int], object] = lambda _: None
    ) -> MigrationReport:
        """Move all blobs; ``progress`` is called with the number of blobs processed since its last call.

        Raises:
            StorageUnavailable: a storage remained unavailable; another run continues from here.
        """
        report, until = MigrationReport(), self._clock.now()
        # Uploads that were pending during one pass may be stored by the next, so repeat until a pass
        # moves nothing. Damaged blobs are found again by each pass.
        while self._pass(move, until, report, progress):
            report.damaged.clear()
        self._service.sweep()
        return report

    def _pass(
        self, move: MigrationPlan, until: int, report: MigrationReport, progress: Callable[[int], object]
    ) -> bool:
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

    def _batches(self, source: str, until: int) -> Iterator[list[BlobRow]]:
        key = ""
        # Page by key: damaged blobs remain in the source and must not be returned again by this pass.
        while batch := self._batch_after(source, until, key):
            yield batch
            key = batch[-1].key

    def _batch_after(self, source: str, until: int, key: str) -> list[BlobRow]:
        parameters = {"source": source, "after": key, "until": until}
        with self._database.read() as connection:
            return _BATCH_AFTER.all(connection, parameters)

    def _move_with_retries(self, move: MigrationPlan, row: BlobRow) -> Outcome:
        # Each attempt has a new key, because the object of a failed one may still appear in the store.
        for _ in range(_ATTEMPTS - 1):
            try:
                return self._move(move, row)
            except StorageUnavailable as error:
                self._sleep(error.retry_after)
        return self._move(move, row)

    def _move(self, move: MigrationPlan, row: BlobRow) -> Outcome:
        key = self._service.create_pending_in(move.target)
        try:
            is_whole = self._copy(move, row, key)
            if is_whole and self._exchange(move, row, key):
                return Outcome.MOVED
        except BaseException:
            self._service.discard(key)
            raise
        self._service.discard(key)
        return Outcome.DAMAGED if self._still_has(row) else Outcome.GONE

    def _copy(self, move: MigrationPlan, row: BlobRow, key: str) -> bool:
        storages = self._service.storages
        source, target = storages[move.source], storages[move.target]
        try:
            # No transaction is open here, because copying may take hours.
            copied = copy_object(
                source,
                row.object_key,
                target,
                key,
                size=row.size or 0,
                pace=move.pace,
                scope=self._scope(target, row),
            )
        except (ObjectNotFound, ObjectDamaged):
            return False
        # Computed from the bytes that were sent, so a damaged source is detected before the exchange.
        return bool(copied == row.checksum)

    def _scope(self, target: Store, row: BlobRow) -> str | None:
        if target.capability(ScopedWrites) is None:
            return None
        with self._database.read() as connection:
            return self.scope_of(connection, row.key)

    def _exchange(self, move: MigrationPlan, row: BlobRow, key: str) -> bool:
        """Exchange the locations of the two rows, unless the blob was deleted or moved concurrently."""
        old, new = BlobLocation(move.source, row.object_key), BlobLocation(move.target, key)
        with self._database.write() as connection:
            # Delete the pending row first: the location of the copy must be unique in the table.
            if _DELETE_PENDING.execute(connection, {"of_key": key}) != 1:
                raise StorageError("the copy took too long and was discarded")
            moved = _MOVE.execute(connection, {**_unchanged(row), "target": move.target, "copy": key})
            # The row of the copy now has the object to delete: the old one, or an unused copy.
            place, now = (old if moved else new), self._clock.now()
            leftover = BlobRow(
                key,
                place.storage,
                place.object_key,
                BlobState.DISCARDED.value,
                size=None,
                checksum=None,
                crc32=None,
                created_at=now,
                removable_at=now + move.grace if moved else None,
            )
            ADD_BLOB.execute(connection, BLOB_ROW.values(leftover))
        return bool(moved)

    def _still_has(self, row: BlobRow) -> bool:
        with self._database.read() as connection:
            return _FIND_UNCHANGED.scalar(connection, _unchanged(row)) is not None


def _unchanged(row: BlobRow) -> dict[str, str]:
    """Return the parameters of :data:`_UNCHANGED`."""
    return {"of_key": row.key, "of_storage": row.storage, "of_object_key": row.object_key}
