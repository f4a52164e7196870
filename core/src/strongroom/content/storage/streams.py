"""Streams of bytes on their way into a store: measured, hashed, limited in bandwidth and copied."""

import hashlib
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Final

from strongroom.content.storage.stores import Store
from strongroom.foundation.errors import PayloadTooLarge
from strongroom.plugin_api.storage import ByteSource, StorageError

_THREAD_FROM: Final = 1024 * 1024
"""Bytes of content after which a thread pays off."""

_MIN_PIECE: Final = 64 * 1024
"""The smallest piece, in bytes, that is worth passing to the thread."""


HEAD_BYTES: Final = 8192
"""How many of the first bytes are stored for type detection."""


class OverlappedSha256:
    """A SHA-256 that hashes the pieces of large content on its own thread, one at a time.

    hashlib releases the GIL while it hashes, so the caller can store this piece and receive the next.
    No ``close`` is needed, because the thread ends when the object is garbage-collected.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._size = 0
        self._thread: ThreadPoolExecutor | None = None
        self._pending: Future[None] | None = None

    def update(self, piece: bytes) -> None:
        """Add a piece; its hashing may still be in progress when this returns."""
        # Pieces must be hashed in order, so at most one is in progress.
        self._wait()
        self._size += len(piece)
        if self._size < _THREAD_FROM or len(piece) < _MIN_PIECE:
            self._hash.update(piece)
            return
        self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="sha256")
        self._pending = self._thread.submit(self._hash.update, piece)

    def hexdigest(self) -> str:
        """Return the hash of all pieces, in hexadecimal digits."""
        self._wait()
        return self._hash.hexdigest()

    def _wait(self) -> None:
        if self._pending is not None:
            self._pending.result()
            self._pending = None


Inspect = Callable[[bytes], str | None]
"""Receives the first bytes, up to :data:`HEAD_BYTES`, and returns their media type if it detects one."""


class MeteredSource:
    """A byte source that counts and hashes another source and enforces a size limit.

    Args:
        max_bytes: the largest accepted number of bytes.
        inspect: called once with the first bytes; its exceptions abort the read.
        kept_bytes: the maximum size of the content that :attr:`content` returns.
    """

    def __init__(
        self,
        source: ByteSource,
        max_bytes: int,
        inspect: Inspect | None = None,
        kept_bytes: int = 0,
    ) -> None:
        self._source = source
        self._max_bytes = max_bytes
        self._inspect = inspect
        self._sha256 = OverlappedSha256()
        self.size = 0
        self.crc32 = 0
        self.head = b""
        self.media_type: str | None = None
        self._kept_bytes = kept_bytes
        self._kept: list[bytes] | None = [] if kept_bytes else None

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
        if self._kept is not None:
            self._keep(self._kept, chunk)
        # Content shorter than the head is inspected at its end.
        if self._inspect and (len(self.head) == HEAD_BYTES or not chunk):
            self.media_type = self._inspect(self.head)
            self._inspect = None
        return chunk

    @property
    def content(self) -> bytes | None:
        """The bytes read so far, or ``None`` if there are too many to keep."""
        return None if self._kept is None else b"".join(self._kept)

    def _keep(self, kept: list[bytes], chunk: bytes) -> None:
        kept.append(chunk)
        if self.size > self._kept_bytes:
            self._kept = None

    @property
    def checksum(self) -> str:
        """The SHA-256 of the bytes read so far, in hexadecimal digits."""
        return self._sha256.hexdigest()


class BandwidthLimiter:
    """Delays threads so that together they stay below a rate of bytes.

    Args:
        bytes_per_second: the rate; ``None`` is unlimited.
        now: returns the time in seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        bytes_per_second: int | None,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._rate = bytes_per_second
        self._now = now
        self._sleep = sleep
        self._lock = Lock()
        self._free_at = 0.0

    def consume(self, size: int) -> None:
        """Account for bytes that were just transferred, and sleep until they are within the rate."""
        if self._rate is None:
            return
        with self._lock:
            now = self._now()
            # Idle time earns no credit, so a pause is not followed by a burst above the rate.
            self._free_at = max(self._free_at, now) + size / self._rate
            wait = self._free_at - now
        # Sleep without the lock, so that other threads can reserve their share in the meantime.
        self._sleep(wait)


class ReadingFailed(Exception):
    """Reading the source of a copy failed.

    Not a :class:`StorageError`, because the circuit of the target storage would count it as its own.
    """

    def __init__(self, error: StorageError) -> None:
        super().__init__(str(error))
        self.error = error


def copy_object(
    source: Store,
    source_key: str,
    target: Store,
    target_key: str,
    *,
    size: int,
    pace: BandwidthLimiter,
    scope: str | None = None,
) -> str | None:
    """Copy an object and return its SHA-256 in hexadecimal digits, or ``None`` if its size differs.

    Raises:
        ObjectNotFound: ``source_key`` does not exist.
        StorageUnavailable: one of the two storages does not respond.
    """
    with source.open(source_key) as chunks:
        metered = MeteredSource(ChunkSource(chunks, pace), size)
        try:
            target.put(target_key, metered, size=size, scope=scope)
        except ReadingFailed as failure:
            raise failure.error from failure
        except PayloadTooLarge:
            return None
    # Some broken connections look like the end of the object, so the size is compared.
    return metered.checksum if metered.size == size else None


class ChunkSource:
    """A byte source that reads from an iterator of chunks, limited to a bandwidth."""

    def __init__(self, chunks: Iterator[bytes], pace: BandwidthLimiter) -> None:
        self._chunks = chunks
        self._pace = pace
        # A view, because slicing bytes would copy the rest of the chunk at each read.
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


class StoredObjectSource(ChunkSource):
    """Reads an object that is in its storage already, to measure it without storing it again.

    Args:
        key: the key of the blob, whose row is pending.
        storage: the name of the storage that has the object.
    """

    def __init__(self, key: str, storage: str, chunks: Iterator[bytes]) -> None:
        super().__init__(chunks, BandwidthLimiter(None))
        self.key = key
        self.storage = storage
