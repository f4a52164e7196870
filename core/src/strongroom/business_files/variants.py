"""Smaller variants of pictures: made when they are first asked for, and kept."""

import io
from threading import Lock
from typing import Final

from sqlalchemy import Connection, select
from sqlalchemy.exc import IntegrityError

from strongroom.business_files.models import BusinessFile, picture_variants
from strongroom.business_files.pictures import PictureProcessor
from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.upsert import insert
from strongroom.errors import NotFound, Unavailable
from strongroom.storage.models import Blob
from strongroom.storage.service import BlobService

_STRIPES: Final = 64
_WAIT_SECONDS: Final = 10
"""How long a request waits for another that makes the same variant."""


class VariantService:
    """Variants of pictures.

    Args:
        database: where they are recorded.
        clock: the time.
        blobs: keeps bytes.
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
        """Return a picture in a smaller width.

        However many ask for it first at one moment, in however many processes, one is kept and
        given to all; each process makes it once at the most.

        Raises:
            NotFound: the picture was deleted meanwhile.
            Unavailable: too many are being made.
        """
        return self._find(picture.name, width) or self._make_alone(picture, width)

    def _find(self, name: str, width: int) -> Blob | None:
        with self._database.read() as connection:
            key = self._key(connection, name, width)
            return self._blobs.get(connection, key) if key else None

    def _key(self, connection: Connection, name: str, width: int) -> str | None:
        query = select(picture_variants.c.blob_key).where(
            picture_variants.c.name == name, picture_variants.c.width == width
        )
        return connection.execute(query).scalar()

    def _make_alone(self, picture: BusinessFile, width: int) -> Blob:
        lock = self._making[hash((picture.name, width)) % _STRIPES]
        if not lock.acquire(timeout=_WAIT_SECONDS):
            raise Unavailable(retry_after=_WAIT_SECONDS)
        try:
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
            # Another process was faster, or the picture is gone; what is kept is not touched.
            self._blobs.discard(received.blob.key)
        return self._find_or_fail(picture.name, width)

    def _record(self, connection: Connection, name: str, width: int, key: str) -> bool:
        row = {"name": name, "width": width, "blob_key": key, "created_at": self._clock.now()}
        statement = insert(connection, picture_variants).values(row).on_conflict_do_nothing()
        recorded = connection.execute(statement.returning(picture_variants.c.width))
        return recorded.first() is not None

    def _find_or_fail(self, name: str, width: int) -> Blob:
        found = self._find(name, width)
        if found is None:
            raise NotFound
        return found
