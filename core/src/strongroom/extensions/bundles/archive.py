"""Generates any byte range of a bundle's ZIP archive while it is sent."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple, Protocol, TypeVar

from strongroom.content.storage.models import BlobLocation
from strongroom.extensions.bundles.manifest import BundleManifest, Item
from strongroom.extensions.bundles.zip_format import central_header, local_header, local_length
from strongroom.plugin_api.storage import ByteStream, StorageError
from strongroom.plugin_api.tracing import carry

IN_FLIGHT: Final = 4
AHEAD: Final = 2 * IN_FLIGHT
"""Number of items to look ahead, so that a slow item does not leave the other threads idle."""

T = TypeVar("T")
R = TypeVar("R")


def work_ahead(
    items: Iterable[T], is_wanted: Callable[[T], bool], work: Callable[[T], R]
) -> Generator[tuple[T, Future[R] | None]]:
    """Yield the items in order, with the futures of those that are prefetched.

    Closing the generator does not block: work that has not started is cancelled.

    Args:
        items: the items; up to ``AHEAD`` more are consumed than yielded.
        is_wanted: whether an item is prefetched.
        work: the function that prefetches an item, run on a thread.
    """
    # The calls of storages on the threads are steps of the request that consumes the items.
    traced = carry(work)
    pool: ThreadPoolExecutor | None = None
    waiting: deque[tuple[T, Future[R] | None]] = deque()
    try:
        for item in items:
            early = None
            if is_wanted(item):
                # Threads are created only if an item needs them.
                pool = pool or ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="ahead")
                early = pool.submit(traced, item)
            waiting.append((item, early))
            if len(waiting) > AHEAD:
                yield waiting.popleft()
        while waiting:
            yield waiting.popleft()
    finally:
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


CHUNK_SIZE: Final = 128 * 1024

_LOOKED_UP_AT_ONCE: Final = 256

_READ_AT_ONCE: Final = 1024 * 1024
"""Maximum size of content to prefetch, in bytes. Latency matters little for larger content."""


class ByteStore(Protocol):
    """Storage of the items' content."""

    def locations(self, keys: Sequence[str]) -> Mapping[str, BlobLocation]:
        """Return the current locations of blobs, by their keys."""

    def open(
        self, key: str, start: int, length: int, *, place: BlobLocation | None = None
    ) -> ByteStream:
        """Open a range of a blob; a recently read location saves the query for it."""

    def is_local(self, place: BlobLocation) -> bool:
        """Return whether a location is on a local disk, so that opening it has no network latency."""


@dataclass(slots=True, eq=False, repr=False)
class Archive:
    """An archive that is generated while it is read."""

    _manifest: BundleManifest
    _store: ByteStore

    @contextmanager
    def open(self, start: int, length: int) -> Iterator[Iterator[bytes]]:
        """Open ``length`` bytes from the offset ``start``; one reader at a time."""
        with closing(self._bytes(start, start + length)) as pieces:
            yield _gathered(pieces)

    def _bytes(self, start: int, stop: int) -> Generator[bytes]:
        directory = self._manifest.content_size
        if start < directory:
            yield from self._contents(start, min(stop, directory))
        if stop > directory:
            # The central directory is small enough to be generated from its beginning and cut.
            yield from _cut(self._directory(), max(0, start - directory), stop - directory)

    def _contents(self, start: int, stop: int) -> Iterator[bytes]:
        parts = self._parts(start, stop)
        with closing(work_ahead(parts, self._is_worth_a_thread, self._read)) as passing:
            for part, early in passing:
                yield part.header
                if part.length:
                    yield from _whole(part, early.result()) if early else self._streamed(part)

    def _parts(self, start: int, stop: int) -> Iterator["_Part"]:
        """Yield the parts of items in the range, with the locations of their content."""
        items = self._overlapping(start, stop)
        while batch := list(islice(items, _LOOKED_UP_AT_ONCE)):
            # One query per batch instead of one per item.
            places = self._store.locations([item.key for item, _, _ in batch if item.key])
            for item, first, last in batch:
                header = local_header(item.entry)
                begin, end = max(0, first - len(header)), max(0, last - len(header))
                yield _Part(item.key, header[first:last], begin, end - begin, places.get(item.key))

    def _overlapping(self, start: int, stop: int) -> Iterator[tuple[Item, int, int]]:
        """Yield each item that overlaps the range, with the first and last offset within the item."""
        offset = 0
        for item in self._manifest.items():
            end = offset + local_length(item.entry) + item.entry.size
            if end > start:
                yield item, max(0, start - offset), min(stop, end) - offset
            offset = end
            if offset >= stop:
                return

    def _is_worth_a_thread(self, part: "_Part") -> bool:
        # Prefetched content is held in memory, so only small content is.
        is_small = 0 < part.length <= _READ_AT_ONCE
        return is_small and part.place is not None and not self._store.is_local(part.place)

    def _read(self, part: "_Part") -> list[bytes]:
        with self._store.open(part.key, part.start, part.length, place=part.place) as chunks:
            return list(chunks)

    def _streamed(self, part: "_Part") -> Iterator[bytes]:
        with self._store.open(part.key, part.start, part.length, place=part.place) as chunks:
            yield from _whole(part, chunks)

    def _directory(self) -> Iterator[bytes]:
        offset = 0
        for item in self._manifest.items():
            yield central_header(item.entry, offset)
            offset += local_length(item.entry) + item.entry.size
        yield self._manifest.end


class _Part(NamedTuple):
    """The requested part of one item: bytes of its header, and ``length`` bytes of its content.

    ``key`` and ``place`` locate the content. A tuple, because an archive may have very many parts.
    """

    key: str
    header: bytes
    start: int
    length: int
    place: BlobLocation | None


def _whole(part: _Part, chunks: Iterable[bytes]) -> Iterator[bytes]:
    missing = part.length
    for chunk in chunks:
        missing -= len(chunk)
        yield chunk
    if missing:
        # The headers with the size are already sent, so the response must be aborted.
        raise StorageError(f"the size of blob {part.key} differs from its record")


def _cut(pieces: Iterable[bytes], start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes from ``start`` up to but not including ``stop`` of the concatenated pieces."""
    offset = 0
    for piece in pieces:
        if offset + len(piece) > start:
            yield piece[max(0, start - offset) : stop - offset]
        offset += len(piece)
        if offset >= stop:
            return


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in fewer, larger pieces, because each piece has a fixed cost.

    The first piece is not delayed; the size of the following ones doubles up to ``CHUNK_SIZE``.
    """
    batch: list[bytes] = []
    size, target = 0, 1
    for piece in pieces:
        batch.append(piece)
        size += len(piece)
        if size >= target:
            yield b"".join(batch)
            target = min(2 * size, CHUNK_SIZE)
            batch, size = [], 0
    if batch:
        yield b"".join(batch)
