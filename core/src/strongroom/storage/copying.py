"""Copies an object from one named storage to another, and takes its checksum on the way."""

from collections.abc import Iterator

from strongroom.errors import PayloadTooLarge
from strongroom.plugin_api.storage import StorageError
from strongroom.storage.bandwidth import BandwidthLimiter
from strongroom.storage.source import MeteredSource
from strongroom.storage.stores import Store


class ReadingFailed(Exception):
    """The source failed. No error of a storage, for it must not be blamed on the one written to."""

    def __init__(self, error: StorageError) -> None:
        super().__init__(str(error))
        self.error = error


def copy_object(
    source: Store, source_key: str, target: Store, target_key: str, *, size: int, pace: BandwidthLimiter
) -> str | None:
    """Copy an object and return its SHA-256 in hexadecimal digits, or ``None`` if it has another size.

    Raises:
        ObjectNotFound: nothing is stored under ``source_key``.
        StorageUnavailable: one of the two does not answer.
    """
    with source.open(source_key) as chunks:
        metered = MeteredSource(ChunkSource(chunks, pace), size)
        try:
            target.put(target_key, metered, size=size)
        except ReadingFailed as failure:
            raise failure.error from failure
        except PayloadTooLarge:
            return None
    return metered.checksum if metered.size == size else None


class ChunkSource:
    """The chunks of a stream, at a pace."""

    def __init__(self, chunks: Iterator[bytes], pace: BandwidthLimiter) -> None:
        self._chunks = chunks
        self._pace = pace
        self._rest = memoryview(b"")

    def read(self, size: int, /) -> bytes:
        if not self._rest:
            self._rest = memoryview(self._next())
            self._pace.consume(len(self._rest))
        piece, self._rest = self._rest[:size], self._rest[size:]
        return bytes(piece)

    def _next(self) -> bytes:
        try:
            return next(self._chunks, b"")
        except StorageError as error:
            raise ReadingFailed(error) from error
