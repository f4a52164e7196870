"""Copies an object from one named storage to another and computes its checksum."""

from collections.abc import Iterator

from strongroom.errors import PayloadTooLarge
from strongroom.plugin_api.storage import StorageError
from strongroom.storage.bandwidth import BandwidthLimiter
from strongroom.storage.source import MeteredSource
from strongroom.storage.stores import Store


class ReadingFailed(Exception):
    """Reading the source of a copy failed.

    Not a :class:`StorageError`, because the circuit of the target storage would count it as its own.
    """

    def __init__(self, error: StorageError) -> None:
        super().__init__(str(error))
        self.error = error


def copy_object(
    source: Store, source_key: str, target: Store, target_key: str, *, size: int, pace: BandwidthLimiter
) -> str | None:
    """Copy an object and return its SHA-256 in hexadecimal digits, or ``None`` if its size differs.

    Raises:
        ObjectNotFound: ``source_key`` does not exist.
        StorageUnavailable: one of the two storages does not respond.
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
    """A byte source that reads from an iterator of chunks, limited to a bandwidth."""

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
