"""Hashes large content on a separate thread, overlapping with receiving and storing it."""

import hashlib
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

_THREAD_FROM: Final = 1024 * 1024
"""Bytes of content after which a thread pays off."""

_MIN_PIECE: Final = 64 * 1024
"""The smallest piece, in bytes, that is worth passing to the thread."""


class OverlappedSha256:
    """A SHA-256 that hashes the pieces of large content on its own thread, one at a time.

    hashlib releases the GIL while it hashes, so the caller can store this piece and receive the next.
    No ``close`` is needed, because the thread ends when the object is garbage-collected.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._size = 0
        self._thread: ThreadPoolExecutor | None = None
        self._pending: Future[None] | None = None

    def update(self, piece: bytes) -> None:
        """Add a piece; its hashing may still be in progress when this returns."""
        # Pieces must be hashed in order, so at most one is in progress.
        self._wait()
        self._size += len(piece)
        if self._size < _THREAD_FROM or len(piece) < _MIN_PIECE:
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
