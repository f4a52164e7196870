"""Moves bytes from one named storage to another while servers read and write them.

Each blob is copied to an object of a new key, which a pending row of its own names; then, in one
transaction, the two rows exchange their places. So a crash leaves nothing that no row names, two
migrations at once do no harm, and the way back is the same as the way there.
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
from strongroom.storage.bandwidth import BandwidthLimiter
from strongroom.storage.copying import copy_object
from strongroom.storage.models import BlobLocation, BlobState, blobs
from strongroom.storage.service import BlobService

_BATCH: Final = 200
_ATTEMPTS: Final = 6


class Outcome(StrEnum):
    """What became of a blob."""

    MOVED = "moved"
    GONE = "gone"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Move:
    """From where to where, and how.

    Args:
        source: the name of the storage to empty.
        target: the name of the storage to fill.
        grace: milliseconds for which old bytes stay, for those who have just learnt where they are.
        jobs: blobs that are copied at a time.
        pace: holds the copying to a rate.
    """

    source: str
    target: str
    grace: int
    jobs: int = 4
    pace: BandwidthLimiter = field(default_factory=lambda: BandwidthLimiter(None))


@dataclass(slots=True)
class Report:
    """What a migration has done.

    Args:
        moved: the number of blobs that are in the target now.
        damaged: keys of blobs whose bytes are missing or have another checksum; they stay.
    """

    moved: int = 0
    damaged: list[str] = field(default_factory=list)


class Migration:
    """A move of all bytes that are in a storage when it begins.

    Args:
        database: where rows are kept.
        clock: the time.
        service: keeps bytes.
        sleep: waits for a number of seconds, for a storage that is away.
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
        """Return how many blobs are in a storage."""
        query = select(func.count()).where(_stored_in(source))
        with self._database.read() as connection:
            count: int = connection.execute(query).scalar_one()
        return count

    def run(self, move: Move, progress: Callable[[int], object] = lambda _: None) -> Report:
        """Move all bytes; ``progress`` is told the number of blobs that are done.

        Raises:
            StorageUnavailable: a storage stayed away; another run goes on where this one ended.
        """
        report, until = Report(), self._clock.now()
        # What was still on its way in during one pass is found by the next.
        while self._pass(move, until, report, progress):
            report.damaged.clear()
        self._service.sweep()
        return report

    def _pass(self, move: Move, until: int, report: Report, progress: Callable[[int], object]) -> bool:
        before = report.moved
        pool = ThreadPoolExecutor(move.jobs)
        try:
            for batch in self._batches(move.source, until):
                outcomes = pool.map(lambda row: self._patiently(move, row), batch)
                for row, outcome in zip(batch, outcomes, strict=True):
                    report.moved += outcome is Outcome.MOVED
                    if outcome is Outcome.DAMAGED:
                        report.damaged.append(row.key)
                    progress(1)
                self._service.sweep()
        finally:
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

    def _patiently(self, move: Move, row: Row[Any]) -> Outcome:
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
        """Let the two rows exchange their places, unless the blob was deleted or moved meanwhile."""
        old, new = BlobLocation(move.source, row.object_key), BlobLocation(move.target, key)
        with self._database.write() as connection:
            mine = (blobs.c.key == key, blobs.c.state == BlobState.PENDING.value)
            if connection.execute(delete(blobs).where(*mine)).rowcount != 1:
                raise StorageError("the copy took so long that it was given up")
            moved = connection.execute(update(blobs).where(_is_still(row)).values(_at(new))).rowcount
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
