"""The profiles of business files, and the scaled variants of pictures."""

import io
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Final

from sqlalchemy import Connection, bindparam, select
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock
from strongroom.content.storage.models import Blob
from strongroom.content.storage.service import BlobService
from strongroom.extensions.business_files.models import BusinessFile, picture_variants
from strongroom.extensions.business_files.pictures import PictureProcessor
from strongroom.foundation.config.file_settings import (
    BusinessFilesSettings,
    FilesProfile,
    PicturesProfile,
)
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import NotFound, Unavailable, UnsupportedMediaType, ValidationFailed

PICTURES = ("photos", "figures", "covers", "avatars")
FILES = "files"


@dataclass(frozen=True, slots=True)
class Profile:
    """Rules for one kind of business files.

    Args:
        name: name in the configuration.
        max_bytes: maximum size of a file, in bytes.
        types: accepted media types; ``image/*`` and ``*/*`` are wildcards.
        is_public: whether downloads need no token.
        max_pixels: maximum number of pixels of a picture, all frames together; 0 for other files.
        widths: available widths of scaled variants, in pixels.
    """

    name: str
    max_bytes: int
    types: tuple[str, ...]
    is_public: bool
    max_pixels: int = 0
    widths: tuple[int, ...] = ()

    def require_type(self, media_type: str) -> None:
        """Check that the profile accepts a media type.

        Raises:
            UnsupportedMediaType: it does not.
        """
        essence = media_type.partition(";")[0]
        kind = essence.partition("/")[0]
        if not {essence, f"{kind}/*", "*/*"} & set(self.types):
            message = f"Must be one of: {', '.join(self.types)}; detected {essence}."
            raise UnsupportedMediaType.of_field("file", "type-not-allowed", message)

    def require_width(self, width: int) -> None:
        """Check that the profile offers variants of a width.

        Raises:
            ValidationFailed: it does not.
        """
        if width not in self.widths:
            allowed = ", ".join(map(str, sorted(self.widths)))
            message = f"Must be one of: {allowed}." if allowed else "Not available for these files."
            raise ValidationFailed.of_field("width", "not-allowed", message)


def get_profiles(settings: BusinessFilesSettings) -> Mapping[str, Profile]:
    """Return all profiles by name."""
    return {
        FILES: _profile(FILES, settings.files),
        **{name: _picture_profile(name, getattr(settings, name)) for name in PICTURES},
    }


def _profile(name: str, values: FilesProfile) -> Profile:
    return Profile(name, values.max_bytes, values.types, values.visibility == "public")


def _picture_profile(name: str, values: PicturesProfile) -> Profile:
    is_public = values.visibility == "public"
    return Profile(name, values.max_bytes, values.types, is_public, values.max_pixels, values.widths)


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
    """Creates and returns variants of pictures."""

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
                    self._blobs.commit(connection, received.blob)
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
        blob = self._find(name, width)
        if blob is None:
            raise NotFound
        return blob
