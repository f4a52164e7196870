"""Reads objects that are local files directly, without the storage backend."""

from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Final

from strongroom.plugin_api.storage import LocalPaths, StorageUnavailable
from strongroom.storage.models import BlobLocation
from strongroom.storage.stores import Stores

PIECE: Final = 256 * 1024
"""Bytes per read."""


def local_path(stores: Stores, place: BlobLocation) -> Path | None:
    """Return the path of an object's file, or ``None`` if its storage is not on this machine."""
    backend = stores[place.storage].backend
    return backend.local_path(place.object_key) if isinstance(backend, LocalPaths) else None


class FilePieces:
    """Iterates over a byte range of a file in pieces. The caller closes it.

    Args:
        path: the file.
        start: the offset of the first byte.
        length: the number of bytes.

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
        # The file is shorter than its row says: fail instead of sending a truncated response.
        if not piece:
            raise StorageUnavailable(f"{self._left} bytes of an object are missing")
        self._left -= len(piece)
        return piece

    def close(self) -> None:
        """Close the file."""
        self._file.close()
