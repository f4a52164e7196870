"""Sinks: files that a plugin writes piece by piece.

A storage reads what it stores, so a second thread stores what the plugin's thread writes. Between the
two are at most :data:`BUFFERED` bytes and one piece.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from threading import Condition
from typing import Final

from strongroom.assembly.plugin_host.files.content import PluginContent
from strongroom.foundation.errors import UploadIncomplete
from strongroom.plugin_api.files import FileInfo, FileSink

BUFFERED: Final = 1024 * 1024
"""Number of bytes from which on a writer waits for the storage."""


class Pipe:
    """Passes bytes from one thread to another. The reader sees their end only if nothing went wrong."""

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._changed = Condition()
        self._pieces: deque[bytes] = deque()
        self._buffered = 0
        self._written = 0
        self._is_read = False
        self._is_complete = False
        self._is_aborted = False

    def write(self, data: bytes) -> None:
        """Add bytes; wait while there are many that are not read.

        Raises:
            ValueError: these are more bytes than were announced.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._buffered < BUFFERED or self._is_aborted)
            self._written += len(data)
            if self._size is not None and self._written > self._size:
                self._is_aborted = True
                self._changed.notify_all()
                raise ValueError(f"more than the announced {self._size} bytes")
            if data and not self._is_aborted:
                self._pieces.append(data)
                self._buffered += len(data)
            self._changed.notify_all()

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, or ``b""`` at the end.

        Raises:
            UploadIncomplete: the writer gave up, or wrote less than it has announced.
        """
        with self._changed:
            self._is_read = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._pieces or self._is_complete or self._is_aborted)
            self._require_intact()
            taken = b"".join(self._take(size))
            self._changed.notify_all()
            return taken

    def _take(self, size: int) -> Iterator[bytes]:
        while self._pieces and size:
            piece = self._pieces.popleft()
            if len(piece) > size:
                self._pieces.appendleft(piece[size:])
                piece = piece[:size]
            size -= len(piece)
            self._buffered -= len(piece)
            yield piece

    def await_end(self) -> None:
        """Wait until everything is written; some storages do not read the end of a known size.

        Raises:
            UploadIncomplete: the writer gave up, or wrote less than it has announced.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._is_complete or self._is_aborted)
            self._require_intact()

    def _require_intact(self) -> None:
        is_short = self._is_complete and self._size is not None and self._written < self._size
        if self._is_aborted or is_short:
            raise UploadIncomplete

    def complete(self) -> None:
        """Let the reader see the end."""
        with self._changed:
            self._is_complete = True
            self._changed.notify_all()

    def abort(self) -> None:
        """Wake up both sides; whatever follows fails or is dropped."""
        with self._changed:
            self._is_aborted = True
            self._changed.notify_all()

    def await_reader(self) -> None:
        """Wait until the reader begins, or has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_read or self._is_aborted)


@dataclass(slots=True)
class PipedContent(PluginContent):
    """A file that a plugin writes into a pipe."""

    pipe: Pipe

    def check(self, checksum: str) -> None:
        """Wait for the end of the block in which the plugin writes, before the file is committed."""
        self.pipe.await_end()
        PluginContent.check(self, checksum)


Store = Callable[[PluginContent], FileInfo]
"""Stores the content of a file."""


@dataclass(slots=True, eq=False, repr=False)
class HostFileSink(FileSink):
    """Implements :class:`strongroom.plugin_api.files.FileSink`."""

    _pipe: Pipe
    _stored: "Future[FileInfo]"

    def write(self, data: bytes | bytearray | memoryview) -> int:
        # A copy of what the plugin may change afterwards; bytes are not copied.
        piece = bytes(data)
        self._pipe.write(piece)
        if self._stored.done():
            # Before the end of the block, only an error ends it.
            self._stored.result()
        return len(piece)

    @property
    def file(self) -> FileInfo:
        if not self._stored.done():
            raise RuntimeError("the file is stored at the end of the block")
        return self._stored.result()


@contextmanager
def open_sink(name: str, size: int | None, checksum: str | None, store: Store) -> Iterator[FileSink]:
    """Store what is written within the block as a file, unless the block raises.

    Raises:
        StrongroomError: the file is refused; before the block where its content does not matter.
    """
    pipe = Pipe(size)
    content = PipedContent(name, pipe, size, checksum, pipe)
    with ThreadPoolExecutor(1, thread_name_prefix="file-sink") as thread:
        # The context has the request, for audit records and traces.
        stored = thread.submit(copy_context().run, store, content)
        stored.add_done_callback(lambda _: pipe.abort())
        pipe.await_reader()
        try:
            if stored.done():
                stored.result()
            yield HostFileSink(pipe, stored)
        except BaseException:
            pipe.abort()
            raise
        pipe.complete()
        stored.result()
