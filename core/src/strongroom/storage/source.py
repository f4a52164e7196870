"""Measures what passes while it is stored."""

import zlib
from collections.abc import Callable
from typing import Final

from strongroom.errors import PayloadTooLarge
from strongroom.plugin_api.storage import ByteSource
from strongroom.storage.hashing import OverlappedSha256

HEAD_BYTES: Final = 8192
"""How much of the beginning is kept, to tell the type by."""

Inspect = Callable[[bytes], str | None]
"""Is shown the beginning, and may say what type it is of."""


class MeteredSource:
    """A source that counts, hashes, and refuses to give more than a limit.

    Args:
        source: what is measured.
        max_bytes: the limit.
        inspect: is shown the beginning once it is there, and may raise; what raises ends the reading.
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
            PayloadTooLarge: there is more than the limit.
        """
        chunk = self._source.read(size)
        self.size += len(chunk)
        if self.size > self._max_bytes:
            raise PayloadTooLarge
        self._sha256.update(chunk)
        self.crc32 = zlib.crc32(chunk, self.crc32)
        if len(self.head) < HEAD_BYTES:
            self.head += chunk[: HEAD_BYTES - len(self.head)]
        if self._inspect and (len(self.head) == HEAD_BYTES or not chunk):
            self.media_type = self._inspect(self.head)
            self._inspect = None
        return chunk

    @property
    def checksum(self) -> str:
        """The SHA-256 of what has passed, in hexadecimal digits."""
        return self._sha256.hexdigest()
