"""Compares the rows of blobs with the objects in the storages, while servers run.

All storages are listed before the rows are read. Rows are inserted before their objects and deleted
after them, so a difference that a concurrent change causes disappears on a second check. Only
differences that remain are reported.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Final

from sqlalchemy import ColumnElement, bindparam, func, select

from strongroom.clock import Clock
from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import (
    BLOB_ROW,
    BlobRow,
    BlobState,
    blobs,
    is_key,
    is_unreferenced,
    referrers,
)
from strongroom.content.storage.ownership import OWNER_KEY
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import ObjectLocked, Store
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement, dynamic
from strongroom.plugin_api.storage import ObjectDamaged, ObjectNotFound, ObjectStat


class FindingKind(StrEnum):
    """The kind of a finding. Only objects and rows without any reference can be repaired safely."""

    MISSING = "missing"
    """The object of a stored row is missing."""
    WRONG_SIZE = "wrong-size"
    """The size of the object differs from its row."""
    WRONG_CONTENT = "wrong-content"
    """The checksum of the object differs from its row."""
    RELEASED = "released"
    """A row that is marked for deletion is still referred to."""
    NO_STORAGE = "no-storage"
    """Rows name a storage that is not configured."""
    UNREFERENCED = "unreferenced"
    """A stored row has no references. Repair: the blob is released and deleted."""
    STRAY = "stray"
    """An object with a blob's key has no row. Repair: deleted if older than a day."""
    FOREIGN = "foreign"
    """An object whose key is not a blob's. It is never deleted."""


HARMLESS: Final = frozenset({FindingKind.FOREIGN})
"""Kinds that are reported but are not faults."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding.

    Args:
        key: the key of the object in the storage.
        referrers: the rows that refer to the blob, each as its table name and primary key.
        repaired: whether the check has repaired it.
    """

    kind: FindingKind
    storage: str
    key: str
    detail: str
    referrers: tuple[str, ...] = ()
    repaired: bool = False

    @property
    def is_fault(self) -> bool:
        """Whether the finding is a fault that is not repaired."""
        return not self.repaired and self.kind not in HARMLESS


_BATCH: Final = 1000


class ObjectIndex:
    """The objects of one storage, in a temporary SQLite file that is deleted when it is closed."""

    def __init__(self) -> None:
        # An empty name makes SQLite create a private temporary database on disk.
        self._rows = sqlite3.connect("")
        self._rows.execute(
            "CREATE TABLE objects (key TEXT PRIMARY KEY, size INTEGER, modified_at INTEGER) "
            "WITHOUT ROWID"
        )

    def add(self, objects: Iterable[ObjectStat], progress: Callable[[int], None]) -> None:
        """Add objects; ``progress`` is called with the size of each inserted batch."""
        remaining = iter(objects)
        while batch := [(item.key, item.size, item.modified_at) for item in islice(remaining, _BATCH)]:
            # A store that changes during the listing may list an object twice.
            self._rows.executemany("INSERT OR REPLACE INTO objects VALUES (?, ?, ?)", batch)
            progress(len(batch))

    def find(self, keys: Sequence[str]) -> dict[str, ObjectStat]:
        """Return the objects of the given keys, those that the index has."""
        marks = ", ".join("?" * len(keys))
        rows = self._rows.execute(
            f"SELECT key, size, modified_at FROM objects WHERE key IN ({marks})",  # noqa: S608  marks
            keys,
        )
        return {row[0]: ObjectStat(*row) for row in rows}

    def remove(self, keys: Iterable[str]) -> None:
        """Remove the objects of the given keys."""
        self._rows.executemany("DELETE FROM objects WHERE key = ?", ((key,) for key in keys))

    def rest(self) -> Iterator[ObjectStat]:
        """Iterate over the objects that were not removed, sorted by key."""
        for row in self._rows.execute("SELECT key, size, modified_at FROM objects ORDER BY key"):
            yield ObjectStat(*row)

    def __len__(self) -> int:
        count: int = self._rows.execute("SELECT count(*) FROM objects").fetchone()[0]
        return count

    def close(self) -> None:
        """Close the index and delete its file."""
        self._rows.close()


_ROWS_AT_ONCE: Final = 500
_KEYS_AT_ONCE: Final = 5000
_WAIT_SECONDS: Final = 1.0

Progress = Callable[[int], None]
Listing = Mapping[str, ObjectIndex]
"""The objects of each storage, by its name."""

_Fault = tuple[FindingKind, str]

_BY_STORAGE: Final = Statement(select(blobs.c.storage, func.count()).group_by(blobs.c.storage))
_OF_KEY: Final = blobs.c.key == bindparam("of_key")
_BY_KEY: Final = Statement(select(blobs).where(_OF_KEY), BLOB_ROW)
_LOCK: Final = Statement(select(blobs.c.key).where(_OF_KEY).with_for_update())
_BATCH_AFTER: Final = Statement(
    select(blobs).where(blobs.c.key > bindparam("last")).order_by(blobs.c.key).limit(_ROWS_AT_ONCE),
    BLOB_ROW,
)
_KEYS_AFTER: Final = Statement(
    select(blobs.c.key, blobs.c.storage, blobs.c.object_key)
    .where(blobs.c.key > bindparam("last"))
    .order_by(blobs.c.key)
    .limit(_KEYS_AT_ONCE),
    tuple,
)
_BY_LOCATION: Final = Statement(
    select(blobs.c.key).where(
        blobs.c.storage == bindparam("storage"), blobs.c.object_key == bindparam("object_key")
    )
)


@dataclass(slots=True, eq=False, repr=False)
class StorageCheck:
    """Finds rows without objects, objects without rows, and objects that differ from their rows.

    Args:
        blobs: the storages, and their deletion.
    """

    _database: Database
    _clock: Clock
    _blobs: BlobService

    def run(
        self,
        *,
        checksums: bool = False,
        repair: bool = False,
        jobs: int = 1,
        progress: Progress = lambda _: None,
    ) -> Iterator[Finding]:
        """Yield the findings of all storages.

        Args:
            checksums: also read every object and compare its SHA-256.
            repair: delete objects that nothing can refer to.
            jobs: the number of objects that are examined at the same time.
            progress: called with the number of objects and rows processed since its last call.

        Raises:
            StorageUnavailable: a store does not respond; findings yielded before are valid.
        """
        yield from self.rows_of_no_storage()
        with self.listed(progress) as listing, examining(jobs) as pool:
            for batch in self._batches():
                yield from self.check_rows(batch, listing, pool, checksums=checksums, repair=repair)
                progress(len(batch))
            yield from self.unknown(listing, repair=repair)

    @contextmanager
    def listed(self, progress: Progress = lambda _: None) -> Iterator[Listing]:
        """List all storages, in temporary files.

        Raises:
            StorageUnavailable: a store does not respond.
        """
        with ExitStack() as stack:
            listing = {}
            for name, store in self._blobs.storages.items():
                listing[name] = stack.enter_context(closing(ObjectIndex()))
                listing[name].add(store.scan(), progress)
            yield listing

    def rows_of_no_storage(self) -> Iterator[Finding]:
        """Yield a finding for each storage with rows that is not configured."""
        with self._database.read() as connection:
            counts = _BY_STORAGE.all(connection)
        for name, count in counts:
            if name not in self._blobs.storages:
                detail = f"{count} blobs are in a storage that is not configured"
                yield Finding(FindingKind.NO_STORAGE, name, "", detail)

    def check_rows(
        self,
        batch: Sequence[BlobRow],
        listing: Listing,
        pool: ThreadPoolExecutor,
        *,
        checksums: bool,
        repair: bool,
        keep: Callable[[], object] = lambda: None,
    ) -> Iterator[Finding]:
        """Yield the findings of rows, in their order; rows of unknown storages are left out.

        Args:
            pool: examines the objects.
            keep: called at least once per second while objects are examined.

        Raises:
            StorageUnavailable: a store does not respond.
        """
        checkable = [row for row in batch if row.storage in listing]
        objects = {
            name: index.find([row.object_key for row in checkable if row.storage == name])
            for name, index in listing.items()
        }
        in_storage = [row for row in checkable if row.state == BlobState.STORED]
        faults = [
            pool.submit(self._fault, row, objects[row.storage].get(row.object_key), checksums)
            for row in in_storage
        ]
        for row, future in zip(in_storage, faults, strict=True):
            fault = _result(future, keep)
            if fault is not None and self._is_still(row):
                yield self._finding(fault[0], row, fault[1])
        yield from self._check_references(checkable, repair)

    def _batches(self) -> Iterator[Sequence[BlobRow]]:
        last = ""
        while True:
            with self._database.read() as connection:
                batch = _BATCH_AFTER.all(connection, {"last": last})
            if not batch:
                return
            yield batch
            last = batch[-1].key

    def _fault(self, row: BlobRow, seen: ObjectStat | None, checksums: bool) -> _Fault | None:
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
        except ObjectDamaged as error:
            return FindingKind.WRONG_CONTENT, str(error)
        return None

    def _is_still(self, row: BlobRow) -> bool:
        """Return whether the row is unchanged, so neither a deletion nor a move explains the finding."""
        with self._database.read() as connection:
            return _BY_KEY.first(connection, {"of_key": row.key}) == row

    def _finding(self, kind: FindingKind, row: BlobRow, detail: str) -> Finding:
        with self._database.read() as connection:
            owners = tuple(referrers(connection, row.key))
        return Finding(kind, row.storage, row.object_key, detail, owners)

    def _check_references(self, batch: Sequence[BlobRow], repair: bool) -> Iterator[Finding]:
        for row in self._among(batch, *self._is_leaked()):
            repaired = repair and self._release(row)
            detail = "stored, but nothing refers to it"
            kind = FindingKind.UNREFERENCED
            yield Finding(kind, row.storage, row.object_key, detail, repaired=repaired)
        for row in self._among(batch, blobs.c.state == BlobState.DISCARDED.value, ~is_unreferenced()):
            detail = "marked for deletion, but still referred to"
            yield self._finding(FindingKind.RELEASED, row, detail)

    def _among(self, batch: Sequence[BlobRow], *conditions: ColumnElement[bool]) -> Sequence[BlobRow]:
        query = select(blobs).where(blobs.c.key.in_([row.key for row in batch]), *conditions)
        with self._database.read() as connection:
            return dynamic(query, BLOB_ROW).all(connection)

    def _is_leaked(self) -> tuple[ColumnElement[bool], ...]:
        # Young blobs are excluded, because their references may be in an uncommitted transaction.
        deadline = self._clock.now() - ABANDONED_AFTER
        is_stored = blobs.c.state == BlobState.STORED.value
        return is_stored, blobs.c.created_at < deadline, is_unreferenced()

    def _release(self, row: BlobRow) -> bool:
        """Release a blob without references; the row lock blocks new references until the commit."""
        is_leaked = select(blobs.c.key).where(blobs.c.key == row.key, *self._is_leaked())
        with self._database.write() as connection:
            # Locked before the references are counted; a transaction that adds one waits for the lock.
            _LOCK.execute(connection, {"of_key": row.key})
            keys = dynamic(is_leaked).scalars(connection)
            released = self._blobs.release(connection, keys)
        self._blobs.remove(released)
        # The bytes may be kept for some days.
        return bool(keys)

    def unknown(self, listing: Listing, *, repair: bool) -> Iterator[Finding]:
        """Yield the objects that no row refers to. Removes all others from the listing.

        Raises:
            StorageUnavailable: a store does not respond.
        """
        counts = {name: len(index) for name, index in listing.items()}
        last: str | None = ""
        while last is not None:
            last = self._remove_known(listing, last)
        for name, objects in listing.items():
            yield from self._unknown(name, objects, counts[name], repair)

    def _remove_known(self, listing: Listing, last: str) -> str | None:
        """Remove the objects of the rows after a key; return the last row's key, if there is a row."""
        with self._database.read() as connection:
            rows = _KEYS_AFTER.all(connection, {"last": last})
        for name, objects in listing.items():
            objects.remove(key for _, storage, key in rows if storage == name)
        return rows[-1][0] if rows else None

    def _unknown(self, name: str, objects: ObjectIndex, listed: int, repair: bool) -> Iterator[Finding]:
        """Yield the objects that no row of the storage refers to."""
        # Real debris is a small part of a store. If most objects have no row, the database is probably
        # the wrong one or incomplete, so nothing is deleted.
        is_debris = 2 * sum(is_key(item.key) for item in objects.rest()) <= listed
        for item in objects.rest():
            if not is_key(item.key):
                yield Finding(
                    FindingKind.FOREIGN, name, item.key, f"{item.size} bytes, not created by Strongroom"
                )
            # The row may be newer than the listing, and the object may be deleted since.
            elif not self._has_row(name, item.key) and self._is_there(name, item.key):
                yield self._stray(name, item, repair=repair and is_debris and self._is_ours(name, item))

    def _is_ours(self, name: str, item: ObjectStat) -> bool:
        """Return whether the object is newer than the claim of the store.

        An older one was written for the previous owner, for example before a backup was restored that
        does not know it. It may be under a hold there, so it is never removed.
        """
        try:
            # Both times are the store's.
            claimed_at = self._blobs.storages[name].backend.stat(OWNER_KEY).modified_at
        except ObjectNotFound:
            return True
        return (item.modified_at or 0) >= (claimed_at or 0)

    def _has_row(self, name: str, object_key: str) -> bool:
        place = {"storage": name, "object_key": object_key}
        with self._database.read() as connection:
            return _BY_LOCATION.scalar(connection, place) is not None

    def _is_there(self, name: str, object_key: str) -> bool:
        try:
            self._blobs.storages[name].stat(object_key)
        except ObjectNotFound:
            return False
        return True

    def _delete(self, name: str, key: str) -> bool:
        try:
            self._blobs.storages[name].delete(key)
        except ObjectLocked:
            return False
        return True

    def _stray(self, name: str, item: ObjectStat, *, repair: bool) -> Finding:
        deadline = self._clock.now() - ABANDONED_AFTER
        removed = repair and item.modified_at is not None and item.modified_at < deadline
        if removed:
            removed = self._delete(name, item.key)
        detail = f"{item.size} bytes without a row"
        return Finding(FindingKind.STRAY, name, item.key, detail, repaired=removed)


def _checksum(store: Store, key: str) -> str:
    digest = hashlib.sha256()
    with store.open(key) as chunks:
        for chunk in chunks:
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def examining(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Yield threads that examine objects, because stores are slow, and hashing releases the lock."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    finally:
        # After an error, examine no objects that are still queued.
        pool.shutdown(cancel_futures=True)


def _result(future: Future[_Fault | None], keep: Callable[[], object]) -> _Fault | None:
    while True:
        try:
            fault = future.result(_WAIT_SECONDS)
        except TimeoutError:
            # A store may raise the same error; the future is done then.
            if future.done():
                raise
            keep()
        else:
            keep()
            return fault
