"""Open files of the PyFilesystem."""

import io
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

from fs import errors

from strongroom.plugin_api.storage import (
    ObjectNotFound,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from strongroom_storage_oss.client import CHUNK_SIZE, OssClient
from strongroom_storage_oss.multipart import ObjectWriter


@contextmanager
def filesystem_errors(path: str) -> Iterator[None]:
    """Turn a :class:`StorageError` of an operation on ``path`` into PyFilesystem's error."""
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
    """An object as a seekable file: one request for each run of bytes that is read."""

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


class DiscardedOnError(io.IOBase):
    """A file whose content becomes an object only when it is closed after all went well.

    An exception in its ``with`` block, and being forgotten unclosed, leave the store as it was.
    """

    def discard(self) -> None:
        """Make :meth:`close` store nothing."""
        raise NotImplementedError

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self.discard()
        self.close()

    def __del__(self) -> None:
        self.discard()
        super().__del__()


class SequentialFile(DiscardedOnError, io.RawIOBase):
    """A file that is written from its beginning to its end, and sent meanwhile.

    It is seekable as long as it fits in one part; afterwards the beginning has left.
    """

    mode = "wb"

    def __init__(self, client: OssClient, key: str) -> None:
        super().__init__()
        self.name = key
        self._writer = ObjectWriter(client, key)
        self._discarded = False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return not self._writer.has_sent

    def tell(self) -> int:
        return self._writer.sent + self._writer.part.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._require_whole("seek")
        return self._writer.part.seek(offset, whence)

    def truncate(self, size: int | None = None) -> int:
        self._require_whole("truncate")
        return self._writer.part.truncate(size)

    def readinto(self, buffer: object) -> int:  # noqa: ARG002
        raise io.UnsupportedOperation("not open for reading")

    def write(self, data: bytes) -> int:  # type: ignore[override]
        if self._discarded:
            return len(data)
        with filesystem_errors(self.name):
            return self._writer.write(data)

    def discard(self) -> None:
        if not self.closed and not self._discarded:
            self._discarded = True
            self._writer.discard()

    def close(self) -> None:
        if self.closed:
            return
        try:
            if not self._discarded:
                self._finish()
        finally:
            super().close()

    def _finish(self) -> None:
        try:
            with filesystem_errors(self.name):
                self._writer.finish()
        except BaseException:
            self._writer.discard()
            raise

    def _require_whole(self, operation: str) -> None:
        if self._writer.has_sent:
            raise io.UnsupportedOperation(f"cannot {operation}: the beginning has been sent already")


class EditedFile(DiscardedOnError, io.BufferedRandom):
    """A file that is read and written anywhere: a temporary one, stored when it is closed.

    Args:
        client: where to.
        key: under which key.
        load: whether the object's present content is to begin with.
        append: whether every write goes to the end.
        changed: whether to store it even if nothing is written.
    """

    def __init__(self, client: OssClient, key: str, *, load: bool, append: bool, changed: bool) -> None:
        super().__init__(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115  closed with this
        self._client = client
        self._key = key
        self._append = append
        self._changed = False
        if load:
            self._load()
        self._changed = changed

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._changed = True
        if self._append:
            self.seek(0, io.SEEK_END)
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        self._changed = True
        return super().truncate(size)

    def discard(self) -> None:
        self._changed = False

    def close(self) -> None:
        if self.closed:
            return
        try:
            if self._changed:
                self._store()
        finally:
            super().close()

    def _load(self) -> None:
        with filesystem_errors(self._key), self._client.open(self._key) as chunks:
            for chunk in chunks:
                super().write(chunk)
        if not self._append:
            self.seek(0)

    def _store(self) -> None:
        self.seek(0)
        writer = ObjectWriter(self._client, self._key)
        try:
            with filesystem_errors(self._key):
                while chunk := self.read(CHUNK_SIZE):
                    writer.write(chunk)
                writer.finish()
        except BaseException:
            writer.discard()
            raise


class TextFile(io.TextIOWrapper):
    """Text over a file that is discarded on error, and so discarded on error as well."""

    buffer: DiscardedOnError  # type: ignore[assignment]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self.buffer.discard()
        super().__exit__(kind, error, traceback)

    def __del__(self) -> None:
        self.buffer.discard()
        super().__del__()
