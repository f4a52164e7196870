"""Manifest of a bundle, spooled to a temporary file so that memory does not grow with the bundle."""

import hashlib
import struct
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Final, NamedTuple

from strongroom.extensions.bundles.zip_format import (
    MAX_PATH_BYTES,
    Entry,
    central_length,
    end_records,
    local_length,
)
from strongroom.foundation.errors import PayloadTooLarge

_IN_MEMORY: Final = 1024 * 1024
_WRITTEN_AT_ONCE: Final = 500
_RECORD = struct.Struct("<QIIHB")


class Item(NamedTuple):
    """An entry of the archive, and the key of its blob, which is empty for a folder."""

    entry: Entry
    key: str


class BundleManifest:
    """The items of a bundle in order, and the archive's size and entity tag derived from them."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  closed by close()
        self._digest = hashlib.blake2b(digest_size=16)
        self._unwritten: list[bytes] = []
        self.count = 0
        self.content_size = 0
        self.directory_size = 0

    def add(self, item: Item) -> None:
        """Append an item.

        Raises:
            PayloadTooLarge: its path is longer than the 65,535 bytes that ZIP allows.
        """
        entry, key = item
        path, size, crc32, modified = entry
        if len(path) > MAX_PATH_BYTES:
            raise PayloadTooLarge("The path of an entry is too long for a ZIP archive.")
        # Fixed-size fields, followed by the path and the key with the lengths given there.
        head = _RECORD.pack(size, crc32, modified, len(path), len(key))
        self._unwritten.append(head + path + key.encode())
        if len(self._unwritten) == _WRITTEN_AT_ONCE:
            self._write()
        self.directory_size += central_length(entry, self.content_size)
        self.content_size += local_length(entry) + size
        self.count += 1

    def _write(self) -> None:
        """Write the buffered records together, because each write has a fixed cost."""
        if not self._unwritten:
            return
        records = b"".join(self._unwritten)
        self._unwritten.clear()
        self._file.write(records)
        self._digest.update(records)

    @property
    def tag(self) -> str:
        """Entity tag of the archive: a digest of its items, because a blob never changes its content."""
        self._write()
        return self._digest.hexdigest()

    @property
    def end(self) -> bytes:
        """The end records of the archive."""
        return end_records(self.count, self.content_size, self.directory_size)

    @property
    def size(self) -> int:
        """The size of the archive, in bytes."""
        return self.content_size + self.directory_size + len(self.end)

    def items(self) -> Iterator[Item]:
        """Iterate over the items; one iteration at a time."""
        self._write()
        self._file.seek(0)
        while head := self._file.read(_RECORD.size):
            size, crc32, modified, *lengths = _RECORD.unpack(head)
            path, key = (self._file.read(length) for length in lengths)
            yield Item(Entry(path, size, crc32, modified), key.decode())

    def close(self) -> None:
        """Close the temporary file; the sizes and the tag remain available."""
        self._write()
        self._file.close()
