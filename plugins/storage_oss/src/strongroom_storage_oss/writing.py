"""Writable files of the PyFilesystem."""

import io
import tempfile
from types import TracebackType

from strongroom_storage_oss.client import CHUNK_SIZE, OssClient
from strongroom_storage_oss.multipart import ObjectWriter
from strongroom_storage_oss.reading import filesystem_errors


class DiscardableFile(io.IOBase):
    """A file whose content becomes an object when it is closed without an error.

    An exception in its ``with`` block, or garbage collection of the open file, stores nothing.
    """

    _discarded = False

    def discard(self) -> None:
        """Make :meth:`close` store nothing, even if more is written."""
        self._discarded = True

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
        if self._discarded:
            return len(data)
        with filesystem_errors(self.name):
            return self._writer.write(data)

    def discard(self) -> None:
        if not self.closed and not self._discarded:
            self._writer.discard()
        super().discard()

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
            raise io.UnsupportedOperation(f"cannot {operation}: the first part has already been sent")


class EditedFile(DiscardableFile, io.BufferedRandom):
    """A random-access file in a temporary file, which is stored on closing.

    Args:
        load: whether to start with the object's current content.
        append: whether every write goes to the end.
        changed: whether to store it even if nothing is written.
    """

    def __init__(self, client: OssClient, key: str, *, load: bool, append: bool, changed: bool) -> None:
        super().__init__(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115  closed with this
        self._client = client
        self._key = key
        self._append = append
        self._changed = changed
        if load:
            self._load()

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._changed = True
        if self._append:
            self.seek(0, io.SEEK_END)
        return super().write(data)

    def truncate(self, size: int | None = None) -> int:
        self._changed = True
        return super().truncate(size)

    def close(self) -> None:
        if self.closed:
            return
        try:
            if self._changed and not self._discarded:
                self._store()
        finally:
            super().close()

    def _load(self) -> None:
        try:
            with filesystem_errors(self._key), self._client.open(self._key) as chunks:
                for chunk in chunks:
                    super().write(chunk)
        except BaseException:
            self.discard()
            self.close()
            raise
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
    """Text wrapper of a :class:`DiscardableFile`, which it discards in the same cases."""

    buffer: DiscardableFile  # type: ignore[assignment]

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
