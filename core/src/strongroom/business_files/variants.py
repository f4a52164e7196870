"""Scaled variants of pictures, created at the first request and stored."""

import io
from threading import Lock
from typing import Final

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.exc import IntegrityError

from strongroom.business_files.models import BusinessFile, picture_variants
from strongroom.business_files.pictures import PictureProcessor
from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.statements import Statement, for_each_dialect
from strongroom.errors import NotFound, Unavailable
from strongroom.storage.models import Blob
from strongroom.storage.service import BlobService

_STRIPES: Final = 64
_WAIT_SECONDS: Final = 10
"""Maximum time to wait for another request that creates the same variant, in seconds."""

_KEY: Final = Statement(
    select(picture_variants.c.blob_key).where(
        picture_variants.c.name == bindparam("name"), picture_variants.c.width == bindparam("width")
    )
)
# The first process wins; the others return its variant.
_RECORD: Final = Statement(
    for_each_dialect(picture_variants, lambda insert: insert.on_conflict_do_nothing())
)


class VariantService:
    """Creates and returns variants of pictures.

    Args:
        database: stores the variant records.
        clock: provides creation times.
        blobs: stores file content.
        processor: scales pictures.
    """

    def __init__(
        self, database: Database, clock: Clock, blobs: BlobService, processor: PictureProcessor
    ) -> None:
        self._database = database
        self._clock = clock
        self._blobs = blobs
        self._processor = processor
        self._making = [Lock() for _ in range(_STRIPES)]

    def get(self, picture: BusinessFile, width: int) -> Blob:
        """Return a picture scaled to a smaller width.

        Concurrent first requests in several processes all return the same stored variant. Each process
        creates a variant at most once at a time.

        Raises:
            NotFound: the picture was deleted concurrently.
            PictureTooLarge: the picture needs too much memory or time.
            PictureUnreadable: the picture can no longer be decoded.
            StorageFull: the storage is exhausted.
            Unavailable: too many pictures are being processed, or another request takes too long.
        """
        return self._find(picture.name, width) or self._make_once(picture, width)

    def _find(self, name: str, width: int) -> Blob | None:
        with self._database.read() as connection:
            key = self._key(connection, name, width)
            return self._blobs.get(connection, key) if key else None

    def _key(self, connection: Connection, name: str, width: int) -> str | None:
        key: str | None = _KEY.scalar(connection, {"name": name, "width": width})
        return key

    def _make_once(self, picture: BusinessFile, width: int) -> Blob:
        # Striped locks bound their number; a collision only delays an unrelated variant.
        lock = self._making[hash((picture.name, width)) % _STRIPES]
        if not lock.acquire(timeout=_WAIT_SECONDS):
            raise Unavailable(retry_after=_WAIT_SECONDS)
        try:
            # Another request may have created the variant while this one waited.
            return self._find(picture.name, width) or self._make(picture, width)
        finally:
            lock.release()

    def _make(self, picture: BusinessFile, width: int) -> Blob:
        def read() -> bytes:
            with self._blobs.open(picture.blob_key, 0, picture.size) as chunks:
                return b"".join(chunks)

        content = self._processor.scale(read, picture.content_type, width)
        received = self._blobs.receive(io.BytesIO(content), size=len(content), max_bytes=len(content))
        try:
            with self._database.write() as connection:
                if self._record(connection, picture.name, width, received.blob.key):
                    self._blobs.keep(connection, received.blob)
                    return received.blob
        except IntegrityError as error:
            raise NotFound from error
        finally:
            # Removes the blob if another process was faster or the picture was deleted. A committed
            # blob is not affected.
            self._blobs.discard(received.blob.key)
        return self._find_or_fail(picture.name, width)

    def _record(self, connection: Connection, name: str, width: int, key: str) -> bool:
        row = {"name": name, "width": width, "blob_key": key, "created_at": self._clock.now()}
        return _RECORD.execute(connection, row) == 1

    def _find_or_fail(self, name: str, width: int) -> Blob:
        found = self._find(name, width)
        if found is None:
            raise NotFound
        return found
