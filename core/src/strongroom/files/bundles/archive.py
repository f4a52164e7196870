"""The bytes of a bundle, from any byte to any other."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from typing import Final, NamedTuple, Protocol

from strongroom.files.bundles.manifest import Item, Manifest
from strongroom.files.bundles.prefetch import work_ahead
from strongroom.files.bundles.zip_format import central_header, local_header, local_length
from strongroom.plugin_api.storage import ByteStream, StorageError
from strongroom.storage.models import BlobLocation

CHUNK_SIZE: Final = 128 * 1024

_LOOKED_UP_AT_ONCE: Final = 256

_READ_AT_ONCE: Final = 1024 * 1024
"""Bytes of the largest content that is read before its turn; what is larger takes its time anyway."""


class ByteStore(Protocol):
    """Where the content of items is."""

    def places(self, keys: Sequence[str]) -> Mapping[str, BlobLocation]:
        """Return where bytes lie at this moment, by their keys."""

    def open(
        self, key: str, start: int, length: int, *, place: BlobLocation | None = None
    ) -> ByteStream:
        """Open a range of bytes; where they were a moment ago saves looking."""

    def is_local(self, place: BlobLocation) -> bool:
        """Return whether bytes lie where nobody waits for them."""


class Archive:
    """An archive that is made as it is read.

    Args:
        manifest: what it holds.
        store: where the content is.
    """

    def __init__(self, manifest: Manifest, store: ByteStore) -> None:
        self._manifest = manifest
        self._store = store

    @contextmanager
    def open(self, start: int, length: int) -> Iterator[Iterator[bytes]]:
        """Open it from a byte, for a number of bytes; one reader at a time."""
        with closing(self._bytes(start, start + length)) as pieces:
            yield _gathered(pieces)

    def _bytes(self, start: int, stop: int) -> Generator[bytes]:
        directory = self._manifest.content_size
        if start < directory:
            yield from self._contents(start, min(stop, directory))
        if stop > directory:
            # The directory and the end are small enough to be made from their beginning.
            yield from _cut(self._directory(), max(0, start - directory), stop - directory)

    def _contents(self, start: int, stop: int) -> Iterator[bytes]:
        parts = self._parts(start, stop)
        with closing(work_ahead(parts, self._is_worth_a_thread, self._read)) as passing:
            for part, early in passing:
                yield part.header
                if part.length:
                    yield from _whole(part, early.result()) if early else self._streamed(part)

    def _parts(self, start: int, stop: int) -> Iterator["_Part"]:
        """Yield the parts of items that lie between, with the places of their contents."""
        items = self._overlapping(start, stop)
        while batch := list(islice(items, _LOOKED_UP_AT_ONCE)):
            places = self._store.places([item.key for item, _, _ in batch if item.key])
            for item, first, last in batch:
                header = local_header(item.entry)
                begin, end = max(0, first - len(header)), max(0, last - len(header))
                yield _Part(item.key, header[first:last], begin, end - begin, places.get(item.key))

    def _overlapping(self, start: int, stop: int) -> Iterator[tuple[Item, int, int]]:
        """Yield each item that has bytes between, and which of its own these are."""
        offset = 0
        for item in self._manifest.items():
            end = offset + local_length(item.entry) + item.entry.size
            if end > start:
                yield item, max(0, start - offset), min(stop, end) - offset
            offset = end
            if offset >= stop:
                return

    def _is_worth_a_thread(self, part: "_Part") -> bool:
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
    """What lies between of one item: of its header, and ``length`` bytes of its content.

    ``key`` and ``place`` say where the content is; there are very many, so this is as slim as it can be.
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
        raise StorageError(f"{part.key} is not as long as it was")


def _cut(pieces: Iterable[bytes], start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes from ``start`` to before ``stop`` of what the pieces make together."""
    offset = 0
    for piece in pieces:
        if offset + len(piece) > start:
            yield piece[max(0, start - offset) : stop - offset]
        offset += len(piece)
        if offset >= stop:
            return


def _gathered(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in fewer pieces: each costs, whatever its length; the first comes at once."""
    held: list[bytes] = []
    size, wanted = 0, 1
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= wanted:
            yield b"".join(held)
            wanted = min(2 * size, CHUNK_SIZE)
            held, size = [], 0
    if held:
        yield b"".join(held)
