"""What a bundle holds, written down once: a file of its own, so that memory does not grow with it."""

import hashlib
import struct
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Final, NamedTuple

from strongroom.errors import PayloadTooLarge
from strongroom.files.bundles.zip_format import (
    MAX_PATH_BYTES,
    Entry,
    central_length,
    end_records,
    local_length,
)

_IN_MEMORY: Final = 1024 * 1024
_WRITTEN_AT_ONCE: Final = 500
_RECORD = struct.Struct("<QIIHB")


class Item(NamedTuple):
    """An entry, and the key of its content, which is empty for a folder."""

    entry: Entry
    key: str


class Manifest:
    """The items of a bundle in their order, and the sizes and the tag that follow from them."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  closed by close()
        self._digest = hashlib.blake2b(digest_size=16)
        self._unwritten: list[bytes] = []
        self.count = 0
        self.content_size = 0
        self.directory_size = 0

    def add(self, item: Item) -> None:
        """Write an item down after those before it.

        Raises:
            PayloadTooLarge: its path is longer than an archive can hold.
        """
        entry, key = item
        path, size, crc32, modified = entry
        if len(path) > MAX_PATH_BYTES:
            raise PayloadTooLarge("The folders lie too deep in each other for an archive.")
        head = _RECORD.pack(size, crc32, modified, len(path), len(key))
        self._unwritten.append(head + path + key.encode())
        if len(self._unwritten) == _WRITTEN_AT_ONCE:
            self._write()
        self.directory_size += central_length(entry, self.content_size)
        self.content_size += local_length(entry) + size
        self.count += 1

    def _write(self) -> None:
        """Write down what was gathered, for each writing costs, whatever its length."""
        if not self._unwritten:
            return
        records = b"".join(self._unwritten)
        self._unwritten.clear()
        self._file.write(records)
        self._digest.update(records)

    @property
    def tag(self) -> str:
        """What tells the archive from any other: a key stands for one content for ever."""
        self._write()
        return self._digest.hexdigest()

    @property
    def end(self) -> bytes:
        """What the archive ends with."""
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
        """Forget all of it but for its sizes and the tag."""
        self._write()
        self._file.close()
