"""Stores blobs: insert a pending row, write the object, then mark the row as stored.

A row is ``pending`` while its object is being written, ``stored`` once another row refers to it, and
``discarded`` after the last reference is gone. Every object that a crash leaves behind has a row that is
not ``stored``, so garbage collection finds it without listing the store.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, FromClause, and_, bindparam, delete, or_, select, update

from strongroom.clock import Clock
from strongroom.content.storage.blob_removal import BlobRemoval, DeletionLeases
from strongroom.content.storage.models import (
    ADD_BLOB,
    LOCATION,
    RELEASED,
    Blob,
    BlobLocation,
    BlobState,
    Released,
    blobs,
    is_unreferenced,
    new_key,
    released,
)
from strongroom.content.storage.ownership import StorageOwnership
from strongroom.content.storage.reserved_keys import ReservedKeys
from strongroom.content.storage.stores import Backends, Stores
from strongroom.content.storage.streams import Inspect, MeteredSource, ReadingFailed, StoredObjectSource
from strongroom.foundation.database import Database
from strongroom.foundation.database.effects import without_effect
from strongroom.foundation.database.rows import get_columns
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound, StrongroomError, Unavailable
from strongroom.plugin_api.storage import (
    ByteSource,
    ByteStream,
    LocalPaths,
    ObjectNotFound,
    StorageUnavailable,
)

_BATCH: Final = 500
_PIECE: Final = 256 * 1024

_OF_KEY: Final = blobs.c.key == bindparam("of_key")
_OF_KEYS: Final = blobs.c.key.in_(bindparam("of_keys", expanding=True))
_UNRESERVE: Final = Statement(delete(blobs).where(_OF_KEYS, blobs.c.state == BlobState.PENDING.value))
_COMMIT: Final = Statement(
    update(blobs)
    .where(_OF_KEY, blobs.c.state == BlobState.PENDING.value)
    .values(
        state=BlobState.STORED.value,
        size=bindparam("of_size"),
        checksum=bindparam("of_checksum"),
        crc32=bindparam("of_crc32"),
        removable_at=None,
    )
)
# Built when it is first executed: by then all tables that refer to blobs are known.
_RELEASE: Final = Statement(
    lambda _: (
        update(blobs)
        .where(_OF_KEYS, is_unreferenced())
        .values(state=BlobState.DISCARDED.value, removable_at=bindparam("not_before"))
        .returning(*RELEASED)
    ),
    released,
)
_DISCARD_PENDING: Final = Statement(
    update(blobs)
    .where(_OF_KEY, blobs.c.state == BlobState.PENDING.value)
    .values(state=BlobState.DISCARDED.value)
    .returning(*RELEASED, blobs.c.removable_at)
)
_STATE: Final = Statement(select(blobs.c.state).where(_OF_KEY))
_BLOB: Final = Statement(select(*get_columns(Blob, blobs)).where(_OF_KEY), Blob)
_LOCATION: Final = Statement(
    select(*LOCATION).where(_OF_KEY, blobs.c.state != BlobState.DISCARDED.value), BlobLocation
)
_LOCATIONS: Final = Statement(select(*RELEASED).where(_OF_KEYS), released)
# Also by object key: after a migration, the object may belong to a row of another key.
_KNOWN: Final = Statement(
    select(blobs.c.key).where(
        or_(
            _OF_KEY,
            and_(blobs.c.storage == bindparam("storage"), blobs.c.object_key == bindparam("object_key")),
        )
    )
)


@dataclass(frozen=True, slots=True)
class ReceivedBlob:
    """A blob that is completely received; its row is still pending.

    Args:
        blob: its key, storage, size and checksums.
        head: the first bytes, for type detection.
        media_type: the media type that ``inspect`` returned, if any.
        content: all bytes, if they are few enough to be kept for an inspection.
    """

    blob: Blob
    head: bytes
    media_type: str | None = None
    content: bytes | None = None


class BlobService:
    """Stores, reads and deletes blobs in named storages.

    Args:
        target: the name of the storage for new blobs.
        kept_bytes: the maximum size of content that :class:`ReceivedBlob` contains.
        removal_delay: for how long released blobs are kept, in milliseconds.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        backends: Backends,
        target: str,
        *,
        kept_bytes: int = 0,
        removal_delay: int = 0,
    ) -> None:
        self._database = database
        self._clock = clock
        self.ownership = StorageOwnership(database, clock)
        self.storages = Stores(backends, clock, self.ownership)
        self.target = target
        self._kept_bytes = kept_bytes
        self._removal_delay = removal_delay
        self.leases = DeletionLeases(database, clock)
        self._keys = ReservedKeys(self._reserve, clock)
        self._removal = BlobRemoval(database, clock, self.storages, self.leases)

    def receive(
        self,
        source: ByteSource,
        *,
        size: int | None,
        max_bytes: int,
        inspect: Inspect | None = None,
        scope: str | None = None,
    ) -> ReceivedBlob:
        """Store the content of a source. The blob stays pending until :meth:`commit`.

        Args:
            size: the number of bytes, if known in advance.
            max_bytes: the largest accepted number of bytes.
            inspect: called once with the first bytes; an exception aborts the upload.
            scope: the id of the tenant that the blob belongs to, if any.

        Raises:
            PayloadTooLarge: the source yields more than ``max_bytes``.
        """
        if isinstance(source, StoredObjectSource):
            return _measure(source, max_bytes, inspect, self._kept_bytes)
        key = self._keys.take()
        metered = MeteredSource(source, max_bytes, inspect, self._kept_bytes)
        try:
            self.storages[self.target].put(key, metered, size=size, scope=scope)
        except StorageUnavailable:
            # Do not call the storage again: the client has waited for its timeout once already.
            # Garbage collection deletes a partial object later.
            self._discard_pending(key)
            raise
        except BaseException:
            self.discard(key)
            raise
        blob = Blob(key, self.target, metered.size, metered.checksum, metered.crc32)
        return ReceivedBlob(blob, metered.head, metered.media_type, metered.content)

    def close(self) -> None:
        """Delete the rows of reserved keys that were not used."""
        # If the database is unavailable, garbage collection deletes them after a day.
        if unused := self._keys.clear():
            with suppress(StrongroomError), self._database.write(durable=False) as connection:
                _UNRESERVE.execute(connection, {"of_keys": unused})

    def create_pending_in(self, storage: str, removable_at: int | None = None) -> str:
        """Insert a pending row for an object that will be written, and return the key of both.

        Args:
            removable_at: when the client's signed upload URL expires, in milliseconds since the Unix
                epoch. The object is not deleted before, because the client could write it again.
        """
        with self._database.write() as connection:
            return self.insert_pending(connection, storage, removable_at)

    def insert_pending(self, connection: Connection, storage: str, removable_at: int | None) -> str:
        """Insert the row of :meth:`create_pending_in` in the caller's transaction."""
        key = new_key()
        ADD_BLOB.execute(connection, self._pending_row(key, storage, removable_at))
        return key

    @without_effect()
    def _reserve(self, count: int) -> list[str]:
        """Insert pending rows for objects of :meth:`receive`, and return their keys.

        The commit need not be durable, see ADR 0020.
        """
        keys = [new_key() for _ in range(count)]
        rows = [self._pending_row(key, self.target, None) for key in keys]
        self._database.write_together(
            lambda connection: ADD_BLOB.execute(connection, rows), durable=False
        )
        return keys

    def _pending_row(self, key: str, storage: str, removable_at: int | None) -> dict[str, Any]:
        return {
            "key": key,
            "storage": storage,
            "object_key": key,
            "state": BlobState.PENDING.value,
            "size": None,
            "checksum": None,
            "crc32": None,
            "created_at": self._clock.now(),
            "removable_at": removable_at,
        }

    def commit(self, connection: Connection, blob: Blob) -> None:
        """Mark a received blob as stored, in the transaction that inserts the reference to it.

        Raises:
            Unavailable: there is no pending row, so the client has to send the content again.
        """
        known = {
            "of_key": blob.key,
            "of_size": blob.size,
            "of_checksum": blob.checksum,
            "of_crc32": blob.crc32,
        }
        # No pending row: garbage collection took the upload for abandoned and discarded it, perhaps
        # after a clock was set forward. Or a promoted standby lacks the row, because reserving it is not
        # durable. So the other reserved keys are not used either.
        if _COMMIT.execute(connection, known) != 1:
            self._keys.clear()
            raise Unavailable(retry_after=1)

    def drop_scope(self, scope: str) -> None:
        """Make the objects of a tenant unreadable in all storages that separate tenants."""
        for store in self.storages.values():
            store.drop_scope(scope)

    def release(
        self, connection: Connection, keys: Sequence[str], *, at_once: bool = False
    ) -> list[Released]:
        """Mark blobs as discarded, except those still in use; return those that may be removed now.

        Call it in the transaction that deleted references, after their deletion. Files of one tenant may
        share a blob, so the caller holds the lock on the tenant. After the commit, :meth:`remove` or
        :meth:`collect` deletes the objects.

        Args:
            at_once: the blobs were never content of a file, so no recovery needs them.
        """
        # A recovery of the database to an earlier moment needs the bytes of that moment.
        delay = 0 if at_once else self._removal_delay
        not_before = self._clock.now() + delay if delay else None
        discarded = [
            item
            for start in range(0, len(keys), _BATCH)
            for item in _RELEASE.all(
                connection, {"of_keys": keys[start : start + _BATCH], "not_before": not_before}
            )
        ]
        return [] if delay else discarded

    @without_effect()
    def discard(self, key: str) -> None:
        """Delete a pending blob and its object; a stored blob is not changed.

        If the deletion fails, garbage collection repeats it.
        """
        self.remove(self._discard_pending(key))

    def remove(self, released_blobs: Sequence[Released]) -> None:
        """Delete released objects; those that cannot be deleted now are left to :meth:`collect`."""
        self._removal.remove(released_blobs)

    def facts(self) -> FromClause:
        """Return a subquery of the blobs' CRC-32, to be joined by ``key``."""
        return select(blobs.c.key, blobs.c.crc32).subquery()

    def collectable(self) -> int:
        """Return how many blobs :meth:`collect` would delete now."""
        return self._removal.collectable()

    def collect(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Delete released blobs and abandoned uploads, and return how many were deleted.

        Safe while servers and other collections run; a blob that two collections delete is counted by
        one of them. Nothing is deleted while a deletion lease exists. ``progress`` is called with the
        size of each processed batch.
        """
        return self._removal.collect(progress)

    def sweep(self) -> int:
        """Delete released blobs only, not abandoned uploads, and return how many were deleted."""
        return self._removal.sweep()

    def location_query(self) -> FromClause:
        """Return a subquery of the locations of all blobs not discarded, to be joined by ``key``."""
        return select(*RELEASED).where(blobs.c.state != BlobState.DISCARDED.value).subquery()

    def is_local(self, place: BlobLocation) -> bool:
        """Return whether an object is a file on this machine, so that reads need no network."""
        return self.storages[place.storage].capability(LocalPaths) is not None

    def open(
        self, key: str, start: int, length: int, *, place: BlobLocation | None = None
    ) -> ByteStream:
        """Open a byte range of a stored blob, even while a migration moves it to another storage.

        Args:
            key: the blob's key.
            start: the offset of the first byte.
            length: the number of bytes.
            place: the last known location; saves a query if it is still correct.

        Raises:
            NotFound: on entering the context, if the blob was deleted concurrently.
        """
        return _BlobReader(self, key, start, length, place)

    def is_pending(self, key: str) -> bool:
        """Return whether a blob is pending: not completely received, and not referred to."""
        with self._database.read() as connection:
            state: str | None = _STATE.scalar(connection, {"of_key": key})
        return state == BlobState.PENDING.value

    @contextmanager
    def open_uploaded(self, key: str) -> Iterator[StoredObjectSource]:
        """Open the object that a client uploaded directly to the store, for :meth:`receive`.

        Raises:
            ObjectNotFound: the client has not uploaded it.
        """
        place = self.location(key)
        with self.storages[place.storage].open(place.object_key) as chunks:
            yield StoredObjectSource(key, place.storage, chunks)

    def location(self, key: str) -> BlobLocation:
        """Return the current location of a blob.

        Raises:
            NotFound: the blob is deleted or discarded.
        """
        with self._database.read() as connection:
            place = _LOCATION.first(connection, {"of_key": key})
        if place is None:
            raise NotFound
        return place

    def get(self, connection: Connection, key: str) -> Blob:
        """Return a stored blob.

        Raises:
            NotFound: there is no such blob.
        """
        blob = _BLOB.first(connection, {"of_key": key})
        if blob is None:
            raise NotFound
        return blob

    def locations(self, keys: Sequence[str]) -> dict[str, BlobLocation]:
        """Return the current locations of blobs by key."""
        with self._database.read() as connection:
            return {item.key: item.place for item in _LOCATIONS.all(connection, {"of_keys": keys})}

    @without_effect()
    def _discard_pending(self, key: str) -> list[Released]:
        with self._database.write() as connection:
            row = _DISCARD_PENDING.first(connection, {"of_key": key})
            is_known = row is not None or self._is_known(connection, key)
        if row is not None:
            # With a deadline, the client may still write the object: collection deletes it later.
            return [] if row.removable_at is not None else [released(row[:-1])]
        # Without any row, garbage collection deleted the upload while its object was still being
        # written. Delete the object here, because no row leads a later collection to it.
        return [] if is_known else [Released(key, BlobLocation(self.target, key))]

    def _is_known(self, connection: Connection, key: str) -> bool:
        place = {"of_key": key, "storage": self.target, "object_key": key}
        return _KNOWN.scalar(connection, place) is not None


def _measure(
    source: StoredObjectSource, max_bytes: int, inspect: Inspect | None, kept_bytes: int
) -> ReceivedBlob:
    # The object is in the store already; read it only for its size, checksums and media type.
    metered = MeteredSource(source, max_bytes, inspect, kept_bytes)
    try:
        while metered.read(_PIECE):
            pass
    except ReadingFailed as failure:
        raise failure.error from failure
    blob = Blob(source.key, source.storage, metered.size, metered.checksum, metered.crc32)
    return ReceivedBlob(blob, metered.head, metered.media_type, metered.content)


class _BlobReader:
    """The context manager of :meth:`BlobService.open`; a generator would cost as much as the read."""

    def __init__(
        self, blobs: BlobService, key: str, start: int, length: int, place: BlobLocation | None
    ) -> None:
        self._blobs = blobs
        self._key = key
        self._range = (start, length)
        self._place = place

    def __enter__(self) -> Iterator[bytes]:
        place = self._place or self._blobs.location(self._key)
        try:
            chunks = self._open(place)
        except ObjectNotFound:
            # A migration or a deletion may have changed the location since it was read. An unchanged
            # location means that the object is really missing.
            moved_to = self._blobs.location(self._key)
            if moved_to == place:
                raise
            chunks = self._open(moved_to)
        return _exactly(self._range[1], chunks)

    def __exit__(self, *raised: Any) -> None:
        self._stream.__exit__(*raised)

    def _open(self, place: BlobLocation) -> Iterator[bytes]:
        start, length = self._range
        store = self._blobs.storages[place.storage]
        self._stream = store.open(place.object_key, start=start, length=length)
        return self._stream.__enter__()


def _exactly(size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the chunks and raise if they are not exactly ``size`` bytes.

    The check is needed because some broken connections look like the end of the object.
    """
    for chunk in chunks:
        size -= len(chunk)
        yield chunk
    if size != 0:
        raise StorageUnavailable(f"{size} bytes of an object were not received")
