"""Counts and hashes content while it is stored."""

import zlib
from collections.abc import Callable
from typing import Final

from strongroom.errors import PayloadTooLarge
from strongroom.plugin_api.storage import ByteSource
from strongroom.storage.hashing import OverlappedSha256

HEAD_BYTES: Final = 8192
"""How many of the first bytes are stored for type detection."""

Inspect = Callable[[bytes], str | None]
"""Receives the first bytes, up to :data:`HEAD_BYTES`, and returns their media type if it detects one."""


class MeteredSource:
    """A byte source that counts and hashes another source and enforces a size limit.

    Args:
        source: the source to read.
        max_bytes: the largest accepted number of bytes.
        inspect: called once with the first bytes; its exceptions abort the read.
    """

    def __init__(self, source: ByteSource, max_bytes: int, inspect: Inspect | None = None) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._inspect = inspect
        self._sha256 = OverlappedSha256()
        self.size = 0
        self.crc32 = 0
        self.head = b""
        self.media_type: str | None = None

    def read(self, size: int, /) -> bytes:
        """Return the next piece.

        Raises:
            PayloadTooLarge: the source has yielded more than the limit.
        """
        chunk = self._source.read(size)
        self.size += len(chunk)
        if self.size > self._max_bytes:
            raise PayloadTooLarge
        self._sha256.update(chunk)
        self.crc32 = zlib.crc32(chunk, self.crc32)
        if len(self.head) < HEAD_BYTES:
            self.head += chunk[: HEAD_BYTES - len(self.head)]
        # Content shorter than the head is inspected at its end.
        if self._inspect and (len(self.head) == HEAD_BYTES or not chunk):
            self.media_type = self._inspect(self.head)
            self._inspect = None
        return chunk

    @property
    def checksum(self) -> str:
        """The SHA-256 of the bytes read so far, in hexadecimal digits."""
        return self._sha256.hexdigest()
