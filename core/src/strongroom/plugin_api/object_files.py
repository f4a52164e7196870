"""File objects of PyFilesystems whose files are objects of a store, such as a bucket.

Closing a file that was written makes the object visible. A file that leaves its ``with`` block by an
exception, or is garbage-collected unclosed, discards its content, so that no partial object becomes
visible.
"""

import io
import os
import tempfile
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, cast

from strongroom.plugin_api.storage import (
    ObjectNotFound,
    StorageError,
    StorageFull,
    StorageUnavailable,
)

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

OpenObject = Callable[[int], AbstractContextManager[Iterator[bytes]]]
"""Opens an object at a position, in bytes, for the time of a ``with`` block, and returns its chunks."""


@contextmanager
def filesystem_errors(path: str) -> Iterator[None]:
    """Translate a :class:`StorageError` into PyFilesystem's error for ``path``."""
    # Imported lazily: it takes 0.1 s, and only the files of such a filesystem need it.
    from fs import errors

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


class TextModes:
    """Opens text files by ``openbin``; a base class that precedes PyFilesystem's."""

    def open(
        self,
        path: str,
        mode: str = "r",
        buffering: int = -1,
        encoding: str | None = None,
        errors: str | None = None,
        newline: str = "",
        **options: Any,
    ) -> Any:
        """Open a file; the text of a discarded one is discarded."""
        from fs.mode import validate_open_mode

        validate_open_mode(mode)
        filesystem: Any = self
        file = filesystem.openbin(path, mode.replace("t", ""), buffering, **options)
        if "b" in mode:
            return file
        text = TextWriter if isinstance(file, DiscardableFile) else io.TextIOWrapper
        return text(file, encoding=encoding or "utf-8", errors=errors, newline=newline)


class ObjectReader(io.RawIOBase):
    """Raw reader of an object, to be wrapped in a buffer; one request per seek followed by a read.

    Args:
        size: the size of the object in bytes.
        open_object: opens the object; raises a ``StorageError``, as do its chunks.
    """

    mode = "rb"

    def __init__(self, path: str, size: int, open_object: OpenObject) -> None:
        super().__init__()
        self.name = path
        self._size = size
        self._open_object = open_object
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
        if not self._rest and view:
            self._rest = memoryview(self._next_chunk())
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
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
                self._chunks = self._stack.enter_context(self._open_object(self._position))
            return next(self._chunks, b"")

    def _release(self) -> None:
        self._stack.close()
        self._chunks = None
        self._rest = memoryview(b"")


class DiscardableFile(io.IOBase):
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


class EditedFile(DiscardableFile, io.BufferedRandom):
    """A random-access file in a temporary file, which is stored on closing.

    Args:
        load: writes the content of the object; ``None``: the file begins empty.
        store: stores the file, which is positioned at its beginning.
        append: whether every write goes to the end.
        changed: whether to store it even if nothing is written.
    """

    def __init__(
        self,
        *,
        load: Callable[[IO[bytes]], object] | None,
        store: Callable[[IO[bytes]], object],
        append: bool,
        changed: bool,
    ) -> None:
        super().__init__(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115  closed with this file
        self._store = store
        self._append = append
        self._changed = True
        if load:
            self._load(load)
        self._changed = changed

    def write(self, data: "ReadableBuffer") -> int:
        self._changed = True
        if self._append:
            self.seek(0, os.SEEK_END)
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        self._changed = True
        return super().truncate(size)

    def close(self) -> None:
        if self.closed:
            return
        try:
            if self._changed:
                self.seek(0)
                self._store(self)
        finally:
            super().close()

    def discard(self) -> None:
        if not self.closed:
            super().close()

    def _load(self, load: Callable[[IO[bytes]], object]) -> None:
        try:
            load(self)
        except BaseException:
            self.discard()
            raise
        if not self._append:
            self.seek(0)


class TextWriter(DiscardableFile, io.TextIOWrapper):
    """Text wrapper of a writer; discards when the writer would."""

    def tell(self) -> int:
        if self.seekable():
            return super().tell()
        self.flush()
        return self._writer.tell()

    def discard(self) -> None:
        self._writer.discard()

    @property
    def _writer(self) -> DiscardableFile:
        return cast("DiscardableFile", self.buffer)
