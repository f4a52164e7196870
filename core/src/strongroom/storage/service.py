"""Keeps bytes: a row first, then the bytes, then the row that makes them count.

A row is ``pending`` while its bytes are on their way, ``stored`` once something refers to them, and
``discarded`` when nothing does any more. Whatever a crash leaves behind in a store is named by a row
that is not ``stored``, so it can be collected without searching the store.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final

from sqlalchemy import (
    Connection,
    FromClause,
    and_,
    bindparam,
    insert,
    or_,
    select,
    update,
)

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.statements import Statement
from strongroom.errors import NotFound
from strongroom.plugin_api.storage import (
    ByteSource,
    ByteStream,
    LocalPaths,
    ObjectNotFound,
    StorageError,
    StorageUnavailable,
)
from strongroom.storage.copying import ReadingFailed
from strongroom.storage.leases import DeletionLeases
from strongroom.storage.models import Blob, BlobLocation, BlobState, Released, blobs
from strongroom.storage.object_keys import new_key
from strongroom.storage.ownership import StorageOwnership
from strongroom.storage.removal import BlobRemoval
from strongroom.storage.source import Inspect, MeteredSource
from strongroom.storage.stored_source import StoredObjectSource
from strongroom.storage.stores import Backends, Stores

_BATCH: Final = 500
_PIECE: Final = 256 * 1024

_ANNOUNCE: Final = Statement(insert(blobs))
_KEEP: Final = Statement(
    update(blobs)
    .where(blobs.c.key == bindparam("of_key"), blobs.c.state == BlobState.PENDING.value)
    .values(
        state=BlobState.STORED.value,
        size=bindparam("of_size"),
        checksum=bindparam("of_checksum"),
        crc32=bindparam("of_crc32"),
        removable_at=None,
    )
)


@dataclass(frozen=True, slots=True)
class ReceivedBlob:
    """Bytes that have arrived whole and do not count yet.

    Args:
        blob: what is known of them.
        head: their beginning, to tell the type by.
        media_type: their type, if whoever inspected them has told it.
    """

    blob: Blob
    head: bytes
    media_type: str | None = None


class BlobService:
    """Bytes in named storages.

    Args:
        database: where their rows are kept.
        clock: the time.
        backends: the named storages.
        target: the name of the storage that new bytes go to.
    """

    def __init__(self, database: Database, clock: Clock, backends: Backends, target: str) -> None:
        self._database = database
        self._clock = clock
        self.ownership = StorageOwnership(database, clock)
        self.storages = Stores(backends, clock, self.ownership)
        self.target = target
        self.holds = DeletionLeases(database, clock)
        self._removal = BlobRemoval(database, clock, self.storages, self.holds)

    def receive(
        self,
        source: ByteSource,
        *,
        size: int | None,
        max_bytes: int,
        inspect: Inspect | None = None,
        key: str | None = None,
    ) -> ReceivedBlob:
        """Store all that a source gives. Nothing refers to it until :meth:`keep`.

        Args:
            source: the bytes.
            key: what :meth:`expect` returned, if they are expected.
            size: how many will come, where that is known.
            max_bytes: how many are accepted.
            inspect: is shown the beginning as soon as it is there, and may raise.

        Raises:
            PayloadTooLarge: it is more than ``max_bytes``.
        """
        if isinstance(source, StoredObjectSource):
            return _measure(source, max_bytes, inspect)
        key = key or self._expect()
        metered = MeteredSource(source, max_bytes, inspect)
        try:
            self.storages[self.target].put(key, metered, size=size)
        except StorageUnavailable:
            # Whoever waits has waited for this storage long enough; the collection asks it again.
            self._give_up(key)
            raise
        except BaseException:
            self.discard(key)
            raise
        blob = Blob(key, self.target, metered.size, metered.checksum, metered.crc32)
        return ReceivedBlob(blob, metered.head, metered.media_type)

    def announce(self, storage: str, removable_at: int | None = None) -> str:
        """Write the row of bytes that will come to a storage, and return their key in both.

        Args:
            storage: the storage.
            removable_at: until when somebody else may write them, so that no removal is the last.
        """
        with self._database.write() as connection:
            return self.announce_within(connection, storage, removable_at)

    def announce_within(self, connection: Connection, storage: str, removable_at: int | None) -> str:
        """Do as :meth:`announce`, in the caller's transaction."""
        key = new_key()
        row = {
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
        _ANNOUNCE.change(connection, row)
        return key

    def expect(self, connection: Connection) -> str:
        """Write the row of bytes for :meth:`receive`, in a transaction that ends before they come.

        It need not be durable: see ADR 0020.
        """
        return self.announce_within(connection, self.target, None)

    def _expect(self) -> str:
        with self._database.write(durable=False) as connection:
            return self.expect(connection)

    def keep(self, connection: Connection, blob: Blob) -> None:
        """Make received bytes count, in the transaction that refers to them."""
        known = {
            "of_key": blob.key,
            "of_size": blob.size,
            "of_checksum": blob.checksum,
            "of_crc32": blob.crc32,
        }
        if _KEEP.change(connection, known) != 1:
            raise StorageError("the upload took so long that it was given up")

    def release(self, connection: Connection, keys: Sequence[str]) -> list[Released]:
        """Mark bytes that nothing refers to from this transaction on, and return where they are.

        Once the transaction is committed, :meth:`remove` or :meth:`collect` removes them.
        """
        released: list[Released] = []
        for start in range(0, len(keys), _BATCH):
            statement = (
                update(blobs)
                .where(blobs.c.key.in_(keys[start : start + _BATCH]))
                .values(state=BlobState.DISCARDED.value)
                .returning(blobs.c.key, blobs.c.storage, blobs.c.object_key)
            )
            rows = connection.execute(statement)
            released += [Released(row.key, BlobLocation(row.storage, row.object_key)) for row in rows]
        return released

    def discard(self, key: str) -> None:
        """Remove received bytes that never came to count; those that do count are left alone.

        What fails here is collected later.
        """
        self.remove(self._give_up(key))

    def remove(self, released: Sequence[Released]) -> None:
        """Remove released bytes as far as that succeeds now."""
        self._removal.remove(released)

    def facts(self) -> FromClause:
        """Return what is known of stored bytes, for a query to be joined by ``key``."""
        return select(blobs.c.key, blobs.c.crc32).subquery()

    def collectable(self) -> int:
        """Return how many blobs :meth:`collect` would remove now."""
        return self._removal.collectable()

    def collect(self, progress: Callable[[int], object] = lambda _: None) -> int:
        """Remove released bytes and abandoned uploads, and return how many there were.

        Safe beside running servers, and beside another collection: what is removed by both counts for
        one of them. Nothing is removed while there is a hold. ``progress`` is told how many are done,
        time and again.
        """
        return self._removal.collect(progress)

    def sweep(self) -> int:
        """Remove released bytes alone, and return how many there were."""
        return self._removal.sweep()

    def location_query(self) -> FromClause:
        """Return where bytes lie that are there, for a query to be joined by ``key``."""
        columns = (blobs.c.key, blobs.c.storage, blobs.c.object_key)
        return select(*columns).where(blobs.c.state != BlobState.DISCARDED.value).subquery()

    def is_local(self, place: BlobLocation) -> bool:
        """Return whether bytes lie on this machine, where nobody waits for them."""
        return isinstance(self.storages[place.storage].backend, LocalPaths)

    def open(
        self, key: str, start: int, length: int, *, place: BlobLocation | None = None
    ) -> ByteStream:
        """Open a range of bytes that are stored, wherever they are being moved meanwhile.

        Args:
            key: the blob.
            start: the first byte.
            length: how many bytes.
            place: where they lay a while ago, if that is known.

        Raises:
            NotFound: on entering; what referred to them was deleted at this moment.
        """
        return self._reader(key, start, length, place)

    def is_pending(self, key: str) -> bool:
        """Return whether bytes are still on their way, and nothing refers to them."""
        query = select(blobs.c.state).where(blobs.c.key == key)
        with self._database.read() as connection:
            return connection.execute(query).scalar() == BlobState.PENDING.value

    @contextmanager
    def arrived(self, key: str) -> Iterator[StoredObjectSource]:
        """Open what a client has sent to the store by itself, for :meth:`receive`.

        Raises:
            ObjectNotFound: nothing has arrived.
        """
        place = self.place(key)
        with self.storages[place.storage].open(place.object_key) as chunks:
            yield StoredObjectSource(key, place.storage, chunks)

    def place(self, key: str) -> BlobLocation:
        """Return where bytes lie at this moment.

        Raises:
            NotFound: they are gone, or about to be.
        """
        is_there = (blobs.c.key == key, blobs.c.state != BlobState.DISCARDED.value)
        query = select(blobs.c.storage, blobs.c.object_key).where(*is_there)
        with self._database.read() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise NotFound
        return BlobLocation(row.storage, row.object_key)

    def get(self, connection: Connection, key: str) -> Blob:
        """Return what is known of bytes that are stored.

        Raises:
            NotFound: they are gone.
        """
        columns = (blobs.c.key, blobs.c.storage, blobs.c.size, blobs.c.checksum, blobs.c.crc32)
        row = connection.execute(select(*columns).where(blobs.c.key == key)).first()
        if row is None:
            raise NotFound
        return Blob(*row)

    def places(self, keys: Sequence[str]) -> dict[str, BlobLocation]:
        """Return where bytes lie at this moment, by their keys."""
        query = select(blobs.c.key, blobs.c.storage, blobs.c.object_key).where(blobs.c.key.in_(keys))
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return {row.key: BlobLocation(row.storage, row.object_key) for row in rows}

    @contextmanager
    def _reader(
        self, key: str, start: int, length: int, known: BlobLocation | None
    ) -> Iterator[Iterator[bytes]]:
        place = known or self.place(key)
        with ExitStack() as stack:
            try:
                chunks = stack.enter_context(self._at(place, start, length))
            except ObjectNotFound:
                # The bytes may have been moved or deleted between the look at the row and now.
                moved_to = self.place(key)
                if moved_to == place:
                    raise
                chunks = stack.enter_context(self._at(moved_to, start, length))
            yield _exactly(length, chunks)

    def _at(self, place: BlobLocation, start: int, length: int) -> ByteStream:
        return self.storages[place.storage].open(place.object_key, start=start, length=length)

    def _give_up(self, key: str) -> list[Released]:
        pending = (blobs.c.key == key, blobs.c.state == BlobState.PENDING.value)
        statement = update(blobs).where(*pending).values(state=BlobState.DISCARDED.value)
        places = statement.returning(blobs.c.storage, blobs.c.object_key, blobs.c.removable_at)
        with self._database.write() as connection:
            row = connection.execute(places).one_or_none()
            is_known = row is not None or self._is_known(connection, key)
        if row is not None:
            released = Released(key, BlobLocation(row.storage, row.object_key))
            return [] if row.removable_at is not None else [released]
        # It was given up and collected while bytes still came: they are there, and nothing names them.
        return [] if is_known else [Released(key, BlobLocation(self.target, key))]

    def _is_known(self, connection: Connection, key: str) -> bool:
        at_target = and_(blobs.c.storage == self.target, blobs.c.object_key == key)
        query = select(blobs.c.key).where(or_(blobs.c.key == key, at_target))
        return connection.execute(query).first() is not None


def _measure(source: StoredObjectSource, max_bytes: int, inspect: Inspect | None) -> ReceivedBlob:
    metered = MeteredSource(source, max_bytes, inspect)
    try:
        while metered.read(_PIECE):
            pass
    except ReadingFailed as failure:
        raise failure.error from failure
    blob = Blob(source.key, source.storage, metered.size, metered.checksum, metered.crc32)
    return ReceivedBlob(blob, metered.head, metered.media_type)


def _exactly(size: int, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the chunks. Not all that fails says so: some connections that break look like an end."""
    for chunk in chunks:
        size -= len(chunk)
        yield chunk
    if size != 0:
        raise StorageUnavailable(f"{size} bytes of an object did not come")
