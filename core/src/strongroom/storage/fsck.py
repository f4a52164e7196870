"""Compares the rows of blobs with the objects in the storages, while servers run.

Each storage is listed before its rows are read. Rows are inserted before their objects and deleted after
them, so a difference that a concurrent change causes disappears on a second check. Only differences that
remain are reported.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, Final

from sqlalchemy import ColumnElement, Row, func, select

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.plugin_api.storage import ObjectNotFound, ObjectStat
from strongroom.storage.findings import Finding, FindingKind
from strongroom.storage.models import BlobState, blobs
from strongroom.storage.object_index import ObjectIndex
from strongroom.storage.object_keys import is_key
from strongroom.storage.references import nobody_refers, referrers
from strongroom.storage.removal import ABANDONED_AFTER
from strongroom.storage.service import BlobService
from strongroom.storage.stores import Store

_BATCH: Final = 500

Progress = Callable[[int], None]
BlobRow = Row[Any]


class StorageCheck:
    """Finds rows without objects, objects without rows, and objects that differ from their rows.

    Args:
        blobs: the storages, and their deletion.
    """

    def __init__(self, database: Database, clock: Clock, blobs: BlobService) -> None:
        self._database = database
        self._clock = clock
        self._blobs = blobs

    def units(self, *, checksums: bool) -> int:
        """Return the approximate total that :meth:`run` reports to its ``progress``."""
        amount = func.count() * 2
        total = amount + func.coalesce(func.sum(blobs.c.size), 0) if checksums else amount
        query = select(total).select_from(blobs)
        with self._database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def run(
        self, *, checksums: bool = False, repair: bool = False, progress: Progress = lambda _: None
    ) -> Iterator[Finding]:
        """Yield the findings of all storages.

        Args:
            checksums: also read every object and compare its SHA-256.
            repair: delete objects that nothing can refer to.
            progress: called with the units of work completed since its last call.

        Raises:
            StorageUnavailable: a store does not respond; findings yielded before are valid.
        """
        yield from self._rows_of_no_storage()
        for name, store in self._blobs.storages.items():
            with closing(ObjectIndex()) as found:
                found.add(store.scan(), progress)
                listed = len(found)
                yield from self._compare(name, found, checksums, repair, progress)
                yield from self._unknown(name, found, listed, repair)

    def _rows_of_no_storage(self) -> Iterator[Finding]:
        query = select(blobs.c.storage, func.count()).group_by(blobs.c.storage)
        with self._database.read() as connection:
            counts = connection.execute(query).all()
        for name, count in counts:
            if name not in self._blobs.storages:
                detail = f"{count} blobs are in a storage that is not configured"
                yield Finding(FindingKind.NO_STORAGE, name, "", detail)

    def _compare(
        self, name: str, found: ObjectIndex, checksums: bool, repair: bool, progress: Progress
    ) -> Iterator[Finding]:
        # Taking the objects of each batch out of the index leaves those without a row for _unknown.
        for batch in self._batches(name):
            seen = found.take([row.object_key for row in batch])
            stored = [row for row in batch if row.state == BlobState.STORED]
            for row in stored:
                fault = self._fault(row, seen.get(row.object_key), checksums)
                if fault is not None and self._is_still(row):
                    yield self._finding(fault[0], row, fault[1])
                progress(1 + (row.size if checksums else 0))
            yield from self._check_references(batch, repair)
            progress(len(batch) - len(stored))

    def _batches(self, name: str) -> Iterator[Sequence[BlobRow]]:
        query = select(blobs).where(blobs.c.storage == name).order_by(blobs.c.key).limit(_BATCH)
        last = ""
        while True:
            with self._database.read() as connection:
                batch = connection.execute(query.where(blobs.c.key > last)).all()
            if not batch:
                return
            yield batch
            last = batch[-1].key

    def _fault(
        self, row: BlobRow, seen: ObjectStat | None, checksums: bool
    ) -> tuple[FindingKind, str] | None:
        store = self._blobs.storages[row.storage]
        try:
            # The listing may be older than the row; query the store again before reporting.
            if seen is None or seen.size != row.size:
                seen = store.stat(row.object_key)
            if seen.size != row.size:
                return FindingKind.WRONG_SIZE, f"size is {seen.size} bytes, expected {row.size}"
            if checksums and (checksum := _checksum(store, row.object_key)) != row.checksum:
                detail = f"SHA-256 is {checksum}, expected {row.checksum}"
                return FindingKind.WRONG_CONTENT, detail
        except ObjectNotFound:
            return FindingKind.MISSING, f"the object of {row.size} bytes is missing"
        return None

    def _is_still(self, row: BlobRow) -> bool:
        """Return whether the row is unchanged, so neither a deletion nor a move explains the finding."""
        query = select(blobs).where(blobs.c.key == row.key)
        with self._database.read() as connection:
            return connection.execute(query).first() == row

    def _finding(self, kind: FindingKind, row: BlobRow, detail: str) -> Finding:
        with self._database.read() as connection:
            found = tuple(referrers(connection, row.key))
        return Finding(kind, row.storage, row.object_key, detail, found)

    def _check_references(self, batch: Sequence[BlobRow], repair: bool) -> Iterator[Finding]:
        for row in self._among(batch, *self._is_leaked()):
            repaired = repair and self._release(row)
            detail = "stored, but nothing refers to it"
            kind = FindingKind.UNREFERENCED
            yield Finding(kind, row.storage, row.object_key, detail, repaired=repaired)
        for row in self._among(batch, blobs.c.state == BlobState.DISCARDED.value, ~nobody_refers()):
            detail = "marked for deletion, but still referred to"
            yield self._finding(FindingKind.RELEASED, row, detail)

    def _among(self, batch: Sequence[BlobRow], *conditions: ColumnElement[bool]) -> Sequence[BlobRow]:
        query = select(blobs).where(blobs.c.key.in_([row.key for row in batch]), *conditions)
        with self._database.read() as connection:
            return connection.execute(query).all()

    def _is_leaked(self) -> tuple[ColumnElement[bool], ...]:
        # Young blobs are excluded, because their references may be in an uncommitted transaction.
        deadline = self._clock.now() - ABANDONED_AFTER
        is_stored = blobs.c.state == BlobState.STORED.value
        return is_stored, blobs.c.created_at < deadline, nobody_refers()

    def _release(self, row: BlobRow) -> bool:
        """Release a blob without references; the row lock blocks new references until the commit."""
        lock = select(blobs.c.key).where(blobs.c.key == row.key).with_for_update()
        is_leaked = select(blobs.c.key).where(blobs.c.key == row.key, *self._is_leaked())
        with self._database.write() as connection:
            connection.execute(lock)
            keys = connection.execute(is_leaked).scalars().all()
            released = self._blobs.release(connection, keys)
        self._blobs.remove(released)
        return bool(released)

    def _unknown(self, name: str, found: ObjectIndex, listed: int, repair: bool) -> Iterator[Finding]:
        """Yield the objects that no row of the storage refers to."""
        # Real debris is a small part of a store. If most objects have no row, the database is probably
        # the wrong one or incomplete, so nothing is deleted.
        is_debris = 2 * sum(is_key(item.key) for item in found.rest()) <= listed
        for item in found.rest():
            if not is_key(item.key):
                yield Finding(
                    FindingKind.FOREIGN, name, item.key, f"{item.size} bytes, not created by Strongroom"
                )
            elif not self._has_row(name, item.key) and self._is_there(name, item.key):
                yield self._stray(name, item, repair=repair and is_debris)

    def _has_row(self, name: str, object_key: str) -> bool:
        place = (blobs.c.storage == name, blobs.c.object_key == object_key)
        with self._database.read() as connection:
            return connection.execute(select(blobs.c.key).where(*place)).first() is not None

    def _is_there(self, name: str, object_key: str) -> bool:
        try:
            self._blobs.storages[name].stat(object_key)
        except ObjectNotFound:
            return False
        return True

    def _stray(self, name: str, item: ObjectStat, *, repair: bool) -> Finding:
        deadline = self._clock.now() - ABANDONED_AFTER
        removed = repair and item.modified_at is not None and item.modified_at < deadline
        if removed:
            self._blobs.storages[name].delete(item.key)
        detail = f"{item.size} bytes without a row"
        return Finding(FindingKind.STRAY, name, item.key, detail, repaired=removed)


def _checksum(store: Store, key: str) -> str:
    digest = hashlib.sha256()
    with store.open(key) as chunks:
        for chunk in chunks:
            digest.update(chunk)
    return digest.hexdigest()
