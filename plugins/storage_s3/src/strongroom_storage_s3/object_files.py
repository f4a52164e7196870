"""File objects over objects of a bucket, for the PyFilesystem.

Closing a writer makes the object visible. A writer that leaves its ``with`` block by an exception, or
is garbage-collected unclosed, discards its content, so that no partial object becomes visible.
"""

import io
import os
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, cast

from fs import errors

from strongroom.plugin_api.storage import (
    ObjectNotFound,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from strongroom_storage_s3.errors import translated_errors
from strongroom_storage_s3.upload import Upload

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


@contextmanager
def filesystem_errors(path: str) -> Iterator[None]:
    """Translate exceptions of the store and of botocore into PyFilesystem errors for ``path``."""
    try:
        with translated_errors():
            yield
    except ObjectNotFound as error:
        raise errors.ResourceNotFound(path, exc=error) from error
    except StorageFull as error:
        raise errors.InsufficientStorage(path, exc=error) from error
    except StorageUnavailable as error:
        raise errors.RemoteConnectionError(path, exc=error) from error
    except StorageError as error:
        raise errors.OperationFailed(path, exc=error) from error


class ObjectReader(io.RawIOBase):
    """Raw reader of an object, to be wrapped in a buffer; one request per seek followed by a read.

    Args:
        size: the size of the object in bytes.
        get_from: returns the body of the object from a position to its end.
    """

    mode = "rb"

    def __init__(self, path: str, size: int, get_from: Callable[[int], Any]) -> None:
        super().__init__()
        self._path = path
        self._size = size
        self._get_from = get_from
        self._position = 0
        self._body: Any = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        if origin + offset < 0:
            raise ValueError(f"negative seek position {origin + offset}")
        if origin + offset != self._position:
            # The open response continues at the old position; the next read starts a new request.
            self._release()
            self._position = origin + offset
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer)
        if self._position >= self._size or not view:
            return 0
        with filesystem_errors(self._path):
            if self._body is None:
                self._body = self._get_from(self._position)
            chunk = self._body.read(len(view))
        view[: len(chunk)] = chunk
        self._position += len(chunk)
        return len(chunk)

    def close(self) -> None:
        self._release()
        super().close()

    def _release(self) -> None:
        if self._body is not None:
            self._body.close()
            self._body = None


class Discarding(io.IOBase):
    """A file that discards its content on an exception and on garbage collection.

    Python's own files close in both cases, which would make a partial object visible.
    """

    @abstractmethod
    def discard(self) -> None:
        """Close without storing the content; no effect on a closed file."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.discard()
        self.close()

    def __del__(self) -> None:
        self.discard()


class ObjectWriter(Discarding, io.RawIOBase):
    """Sequential writer that streams to the store without a temporary copy."""

    mode = "wb"

    def __init__(self, path: str, upload: Upload) -> None:
        super().__init__()
        self._path = path
        self._upload = upload

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._upload.size

    def readinto(self, buffer: "WriteableBuffer") -> int:  # noqa: ARG002
        raise io.UnsupportedOperation("not open for reading")

    def write(self, data: "ReadableBuffer") -> int:
        if self.closed:
            raise ValueError("write to closed file")
        view = memoryview(data)
        with filesystem_errors(self._path):
            self._upload.write(view)
        return view.nbytes

    def close(self) -> None:
        if not self.closed:
            super().close()
            with filesystem_errors(self._path):
                self._upload.commit()

    def discard(self) -> None:
        if not self.closed:
            super().close()
            self._upload.abort()


class ObjectEditor(Discarding, io.BufferedRandom):
    """Random-access writer on a temporary file, which is stored on closing.

    Args:
        store: stores the file, which is positioned at its beginning.
    """

    def __init__(self, store: Callable[[IO[bytes]], None]) -> None:
        self._store = store
        super().__init__(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115  closed with this file

    def close(self) -> None:
        if not self.closed:
            try:
                self.seek(0)
                self._store(self)
            finally:
                super().close()

    def discard(self) -> None:
        if not self.closed:
            super().close()


class TextWriter(Discarding, io.TextIOWrapper):
    """Text wrapper of a writer; discards when the writer would."""

    def tell(self) -> int:
        if self.seekable():
            return super().tell()
        self.flush()
        return self._writer.tell()

    def discard(self) -> None:
        self._writer.discard()

    @property
    def _writer(self) -> Discarding:
        return cast("Discarding", self.buffer)
