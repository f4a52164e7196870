"""Keeps bytes: a row first, then the bytes, then the row that makes them count.

A row is ``pending`` while its bytes are on their way, ``stored`` once something refers to them, and
``discarded`` when nothing does any more. Whatever a crash leaves behind in a store is named by a row
that is not ``stored``, so it can be collected without searching the store.
"""

import logging
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.errors import Unavailable
from strongroom.plugin_api.storage import ByteSource, ByteStream, StorageBackend, StorageError
from strongroom.storage.models import Blob, BlobState, blobs
from strongroom.storage.source import MeteredSource

logger = logging.getLogger(__name__)

ABANDONED_AFTER: Final = 24 * 3600 * 1000
"""Milliseconds after which an upload that has not ended is taken for dead."""

_BATCH: Final = 500

Backends = Mapping[str, StorageBackend[Any]]


@dataclass(frozen=True, slots=True)
class ReceivedBlob:
    """Bytes that have arrived whole and do not count yet.

    Args:
        blob: what is known of them.
        head: their beginning, to tell the type by.
    """

    blob: Blob
    head: bytes


class BlobService:
    """Bytes in named storages.

    Args:
        database: where their rows are kept.
        clock: the time.
        storages: the named storages.
        target: the name of the storage that new bytes go to.
    """

    def __init__(self, database: Database, clock: Clock, storages: Backends, target: str) -> None:
        self._database = database
        self._clock = clock
        self.storages = storages
        self._target = target

    def receive(self, source: ByteSource, *, size: int | None, max_bytes: int) -> ReceivedBlob:
        """Store all that a source gives. Nothing refers to it until :meth:`keep`.

        Raises:
            PayloadTooLarge: it is more than ``max_bytes``.
        """
        key = new_key()
        row = {
            "key": key,
            "storage": self._target,
            "state": BlobState.PENDING.value,
            "created_at": self._clock.now(),
        }
        with self._database.write() as connection:
            connection.execute(insert(blobs).values(row))
        metered = MeteredSource(source, max_bytes)
        try:
            self.storages[self._target].put(key, metered, size=size)
        except BaseException:
            self.discard(key)
            raise
        blob = Blob(key, self._target, metered.size, metered.checksum, metered.crc32)
        return ReceivedBlob(blob, metered.head)

    def keep(self, connection: Connection, blob: Blob) -> None:
        """Make received bytes count, in the transaction that refers to them."""
        statement = (
            update(blobs)
            .where(blobs.c.key == blob.key, blobs.c.state == BlobState.PENDING.value)
            .values(
                state=BlobState.STORED.value, size=blob.size, checksum=blob.checksum, crc32=blob.crc32
            )
        )
        if connection.execute(statement).rowcount != 1:
            raise StorageError("the upload took so long that it was given up")

    def release(self, connection: Connection, keys: Sequence[str]) -> list[tuple[str, str]]:
        """Mark bytes that nothing refers to from this transaction on; return their keys and storages.

        Once the transaction is committed, :meth:`remove` or :meth:`collect` removes them.
        """
        released: list[tuple[str, str]] = []
        for start in range(0, len(keys), _BATCH):
            statement = (
                update(blobs)
                .where(blobs.c.key.in_(keys[start : start + _BATCH]))
                .values(state=BlobState.DISCARDED.value)
                .returning(blobs.c.key, blobs.c.storage)
            )
            released += [(row.key, row.storage) for row in connection.execute(statement)]
        return released

    def discard(self, key: str) -> None:
        """Remove received bytes that never came to count; those that do count are left alone.

        What fails here is collected later.
        """
        with self._database.write() as connection:
            given_up = connection.execute(
                update(blobs)
                .where(blobs.c.key == key, blobs.c.state == BlobState.PENDING.value)
                .values(state=BlobState.DISCARDED.value)
            )
        if given_up.rowcount == 1:
            self.remove([(key, self._target)])

    def remove(self, released: Sequence[tuple[str, str]]) -> None:
        """Remove released bytes, given by key and storage, as far as that succeeds now."""
        for key, storage in released:
            try:
                self._remove(key, storage)
            except (StorageError, Unavailable):
                logger.warning("Blob %s is left to be collected", key, exc_info=True)

    def open(self, key: str, start: int, length: int) -> ByteStream:
        """Open a range of bytes that are stored."""
        with self._database.read() as connection:
            storage = connection.execute(select(blobs.c.storage).where(blobs.c.key == key)).scalar_one()
        return self.storages[storage].open(key, start=start, length=length)

    def collect(self) -> int:
        """Remove released bytes and abandoned uploads, and return how many there were.

        Safe beside running servers, and beside another collection.
        """
        self._give_up_abandoned()
        removed = 0
        while batch := self._discarded():
            for key, storage in batch:
                self._remove(key, storage)
            removed += len(batch)
        return removed

    def _give_up_abandoned(self) -> None:
        deadline = self._clock.now() - ABANDONED_AFTER
        with self._database.write() as connection:
            connection.execute(
                update(blobs)
                .where(blobs.c.state == BlobState.PENDING.value, blobs.c.created_at < deadline)
                .values(state=BlobState.DISCARDED.value)
            )

    def _discarded(self) -> list[tuple[str, str]]:
        query = select(blobs.c.key, blobs.c.storage).where(blobs.c.state == BlobState.DISCARDED.value)
        with self._database.read() as connection:
            return [(row.key, row.storage) for row in connection.execute(query.limit(_BATCH))]

    def _remove(self, key: str, storage: str) -> None:
        self.storages[storage].delete(key)
        with self._database.write() as connection:
            connection.execute(delete(blobs).where(blobs.c.key == key))


def new_key() -> str:
    """Return a key that nobody can guess: spread over folders, and safe on every store."""
    name = secrets.token_hex(16)
    return f"{name[:2]}/{name[2:4]}/{name}"
