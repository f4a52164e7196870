"""Byte sources of uploads: the request's body, bounded parts of it, and the joined parts."""

import hashlib
from collections.abc import Callable, Generator, Sequence
from typing import Final

from strongroom.errors import UploadIncomplete
from strongroom.plugin_api.storage import ByteSource, ByteStream

CHUNK_SIZE: Final = 256 * 1024


class ArrivingBytes:
    """The body of one request. A broken connection ends it instead of raising an error.

    So the bytes that arrived before are stored, and the client resumes after them.

    Args:
        source: reads the body.
        on_read: called before each read; its exceptions propagate.
        algorithm: hashlib's name of the digest to compute; ``None`` computes none.
    """

    def __init__(self, source: ByteSource, on_read: Callable[[], None], algorithm: str | None) -> None:
        self._source = source
        self._on_read = on_read
        self._held = b""
        # tus allows SHA-1; the digest only detects transmission errors.
        self._hash = hashlib.new(algorithm, usedforsecurity=False) if algorithm else None
        self.has_broken = False

    def has_more(self) -> bool:
        """Return whether any byte is left; blocks until one arrives or the body ends."""
        if not self._held:
            self._held = self._arrived(CHUNK_SIZE)
        return bool(self._held)

    def take(self, size: int) -> bytes:
        """Return 1 to ``size`` bytes, or ``b""`` at the end or after the connection broke."""
        if not self.has_more():
            return b""
        taken, self._held = self._held[:size], self._held[size:]
        if self._hash:
            self._hash.update(taken)
        return taken

    def digest(self) -> bytes:
        """Return the digest of the bytes returned by :meth:`take`."""
        return self._hash.digest() if self._hash else b""

    def _arrived(self, size: int) -> bytes:
        self._on_read()
        try:
            return self._source.read(size)
        except UploadIncomplete:
            self.has_broken = True
            return b""


class BoundedSource:
    """The next bytes of a request's body, up to a maximum number."""

    def __init__(self, arriving: ArrivingBytes, bound: int) -> None:
        self._arriving = arriving
        self._rest = bound

    def read(self, size: int, /) -> bytes:
        chunk = self._arriving.take(min(size, self._rest)) if self._rest else b""
        self._rest -= len(chunk)
        return chunk


class JoinedSource:
    """Several streams concatenated. ``on_read`` is called before each read."""

    def __init__(
        self,
        openers: Sequence[Callable[[], ByteStream]],
        on_read: Callable[[], None],
    ) -> None:
        self._chunks = self._joined(openers)
        self._on_read = on_read
        self._held = b""

    def read(self, size: int, /) -> bytes:
        self._on_read()
        while not self._held:
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._held = chunk
        taken, self._held = self._held[:size], self._held[size:]
        return taken

    def close(self) -> None:
        """Close the current stream."""
        self._chunks.close()

    def _joined(self, openers: Sequence[Callable[[], ByteStream]]) -> Generator[bytes, None, None]:
        for opener in openers:
            with opener() as chunks:
                yield from chunks
