"""Hashes large content while other things are done with it."""

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

_ALONE_FROM: Final = 1024 * 1024
"""After how many bytes a thread is worth what it costs."""

_WORTHWHILE: Final = 64 * 1024
"""The smallest piece that is worth handing over."""


class OverlappedSha256:
    """A SHA-256 that takes a large content's pieces on a thread of its own, one at a time.

    hashlib lets other threads run meanwhile: the next piece is received, and this one stored. Nobody
    need close it: the thread ends with the object.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._size = 0
        self._thread: ThreadPoolExecutor | None = None
        self._pending: Future[None] | None = None

    def update(self, piece: bytes) -> None:
        """Add a piece, which may still be on its way into the hash when this returns."""
        self._wait()
        self._size += len(piece)
        if self._size < _ALONE_FROM or len(piece) < _WORTHWHILE:
            self._hash.update(piece)
            return
        self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="sha256")
        self._pending = self._thread.submit(self._hash.update, piece)

    def hexdigest(self) -> str:
        """Return the hash of all pieces, in hexadecimal digits."""
        self._wait()
        return self._hash.hexdigest()

    def _wait(self) -> None:
        if self._pending is not None:
            self._pending.result()
            self._pending = None
