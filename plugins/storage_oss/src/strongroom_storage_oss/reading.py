"""Readable files of the PyFilesystem."""

import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from fs import errors

from strongroom.plugin_api.storage import (
    ObjectNotFound,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from strongroom_storage_oss.client import OssClient


@contextmanager
def filesystem_errors(path: str) -> Iterator[None]:
    """Translate a :class:`StorageError` into PyFilesystem's error for ``path``."""
    try:
        yield
    except ObjectNotFound as error:
        raise errors.ResourceNotFound(path, exc=error) from error
    except StorageFull as error:
        raise errors.InsufficientStorage(path, exc=error) from error
    except StorageUnavailable as error:
        raise errors.RemoteConnectionError(path, exc=error, msg=str(error)) from error
    except StorageError as error:
        raise errors.OperationFailed(path, exc=error, msg=str(error)) from error


class ObjectReader(io.RawIOBase):
    """An object as a seekable file: one request per contiguous range of bytes that is read."""

    mode = "rb"

    def __init__(self, client: OssClient, key: str, size: int) -> None:
        super().__init__()
        self.name = key
        self._client = client
        self._size = size
        self._position = 0
        self._stack = ExitStack()
        self._chunks: Iterator[bytes] | None = None
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"negative seek position {base + offset}")
        if base + offset != self._position:
            self._position = base + offset
            self._release()
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = memoryview(self._next_chunk())
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        self._position += count
        return count

    def close(self) -> None:
        self._release()
        super().close()

    def _next_chunk(self) -> bytes:
        if self._position >= self._size:
            return b""
        with filesystem_errors(self.name):
            if self._chunks is None:
                opened = self._client.open(self.name, self._position)
                self._chunks = self._stack.enter_context(opened)
            return next(self._chunks, b"")

    def _release(self) -> None:
        self._stack.close()
        self._chunks = None
        self._rest = memoryview(b"")
