"""Reads objects that are files of this machine, with nothing in between."""

from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Final

from strongroom.plugin_api.storage import LocalPaths, StorageUnavailable
from strongroom.storage.models import BlobLocation
from strongroom.storage.stores import Stores

PIECE: Final = 256 * 1024
"""How many bytes are read at once."""


def local_path(stores: Stores, place: BlobLocation) -> Path | None:
    """Return the file that an object is, if its storage is on this machine."""
    backend = stores[place.storage].backend
    return backend.local_path(place.object_key) if isinstance(backend, LocalPaths) else None


class FilePieces:
    """The bytes of a part of a file, in pieces; whoever has it closes it.

    Args:
        path: the file.
        start: the first byte.
        length: how many bytes.

    Raises:
        OSError: the file cannot be opened.
    """

    def __init__(self, path: Path, start: int, length: int) -> None:
        self._file = FileIO(path)
        self._left = length
        if start:
            self._file.seek(start)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if not self._left:
            self.close()
            raise StopIteration
        piece = self._file.read(min(PIECE, self._left))
        if not piece:
            raise StorageUnavailable(f"{self._left} bytes of an object did not come")
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        """Close the file."""
        self._file.close()
