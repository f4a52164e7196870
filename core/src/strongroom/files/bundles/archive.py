"""The bytes of a bundle, from any byte to any other."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Final, Protocol

from strongroom.files.bundles.layout import central_header, local_header, local_length
from strongroom.files.bundles.manifest import Item, Manifest
from strongroom.plugin_api.storage import ByteStream, StorageError
from strongroom.storage.models import Place

CHUNK_SIZE: Final = 128 * 1024

_LOOKED_UP_AT_ONCE: Final = 256


class ByteStore(Protocol):
    """Where the content of items is."""

    def places(self, keys: Sequence[str]) -> Mapping[str, Place]:
        """Return where bytes lie at this moment, by their keys."""

    def open(self, key: str, start: int, length: int, *, place: Place | None = None) -> ByteStream:
        """Open a range of bytes; where they were a moment ago saves looking."""


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
        yield _gathered(self._bytes(start, start + length))

    def _bytes(self, start: int, stop: int) -> Iterator[bytes]:
        directory = self._manifest.content_size
        if start < directory:
            yield from self._contents(start, min(stop, directory))
        if stop > directory:
            # The directory and the end are small enough to be made from their beginning.
            yield from _cut(self._directory(), max(0, start - directory), stop - directory)

    def _contents(self, start: int, stop: int) -> Iterator[bytes]:
        parts = self._overlapping(start, stop)
        while batch := list(islice(parts, _LOOKED_UP_AT_ONCE)):
            places = self._store.places([item.key for item, _, _ in batch if item.key])
            for item, first, last in batch:
                yield from self._item(item, first, last, places.get(item.key))

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

    def _item(self, item: Item, start: int, stop: int, place: Place | None) -> Iterator[bytes]:
        header = local_header(item.entry)
        yield header[start:stop]
        first, last = max(0, start - len(header)), stop - len(header)
        if last > first:
            yield from self._content(item, first, last - first, place)

    def _content(self, item: Item, start: int, length: int, place: Place | None) -> Iterator[bytes]:
        missing = length
        with self._store.open(item.key, start, length, place=place) as chunks:
            for chunk in chunks:
                missing -= len(chunk)
                yield chunk
        if missing:
            raise StorageError(f"{item.key} is not as long as it was")

    def _directory(self) -> Iterator[bytes]:
        offset = 0
        for item in self._manifest.items():
            yield central_header(item.entry, offset)
            offset += local_length(item.entry) + item.entry.size
        yield self._manifest.end


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
