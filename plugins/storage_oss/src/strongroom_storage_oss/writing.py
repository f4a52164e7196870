"""Writable files of the PyFilesystem."""

import io
from typing import IO

from strongroom.plugin_api.object_files import DiscardableFile, filesystem_errors
from strongroom_storage_oss.client import CHUNK_SIZE, OssClient
from strongroom_storage_oss.multipart import ObjectWriter


class SequentialFile(DiscardableFile, io.RawIOBase):
    """A sequential writer that sends parts while it is being written.

    It is seekable until the first part has been sent.
    """

    mode = "wb"

    def __init__(self, client: OssClient, key: str) -> None:
        super().__init__()
        self.name = key
        self._writer = ObjectWriter(client, key)

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return not self._writer.has_sent

    def tell(self) -> int:
        return self._writer.sent + self._writer.part.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._require_whole("seek")
        position = self._writer.part.seek(offset, whence)
        if position > self._writer.part_size:
            self._writer.part.seek(0, io.SEEK_END)
            raise io.UnsupportedOperation("cannot seek beyond the first part")
        return position

    def truncate(self, size: int | None = None) -> int:
        self._require_whole("truncate")
        return self._writer.part.truncate(size)

    def readinto(self, buffer: object) -> int:  # noqa: ARG002
        raise io.UnsupportedOperation("not open for reading")

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self.closed:
            raise ValueError("write to closed file")
        with filesystem_errors(self.name):
            return self._writer.write(data)

    def close(self) -> None:
        if not self.closed:
            super().close()
            with filesystem_errors(self.name), self._writer:
                pass

    def discard(self) -> None:
        if not self.closed:
            super().close()
            self._writer.discard()

    def _require_whole(self, operation: str) -> None:
        if self._writer.has_sent:
            raise io.UnsupportedOperation(f"cannot {operation}: the first part has already been sent")


def load_object(client: OssClient, key: str, file: IO[bytes]) -> None:
    """Write the content of an object into a file."""
    with filesystem_errors(key), client.open(key) as chunks:
        for chunk in chunks:
            file.write(chunk)


def store_object(client: OssClient, key: str, file: IO[bytes]) -> None:
    """Store a file as an object, from its position."""
    with filesystem_errors(key), ObjectWriter(client, key) as writer:
        while chunk := file.read(CHUNK_SIZE):
            writer.write(chunk)
