"""The bytes of a bundle, from any byte to any other."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from strongroom.files.bundles.layout import central_header, local_header, local_length
from strongroom.files.bundles.manifest import Item, Manifest
from strongroom.plugin_api.storage import ByteStream, StorageError

CHUNK_SIZE: Final = 128 * 1024

Opener = Callable[[str, int, int], ByteStream]
"""Opens bytes by their key, from one of them, so many of them."""


class Archive:
    """An archive that is made as it is read.

    Args:
        manifest: what it holds.
        open_content: opens the content of an item.
    """

    def __init__(self, manifest: Manifest, open_content: Opener) -> None:
        self._manifest = manifest
        self._open_content = open_content

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
        offset = 0
        for item in self._manifest.items():
            end = offset + local_length(item.entry) + item.entry.size
            if end > start:
                yield from self._item(item, max(0, start - offset), min(stop, end) - offset)
            offset = end
            if offset >= stop:
                return

    def _item(self, item: Item, start: int, stop: int) -> Iterator[bytes]:
        header = local_header(item.entry)
        yield header[start:stop]
        first, last = max(0, start - len(header)), stop - len(header)
        if last > first:
            yield from self._content(item, first, last - first)

    def _content(self, item: Item, start: int, length: int) -> Iterator[bytes]:
        missing = length
        with self._open_content(item.key, start, length) as chunks:
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
