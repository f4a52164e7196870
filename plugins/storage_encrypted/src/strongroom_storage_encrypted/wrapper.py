"""The wrapper: encrypts written objects, decrypts read ones, and computes the sizes."""

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.storage import (
    ByteSource,
    ByteStream,
    CapabilityT,
    InnerStorage,
    ObjectDamaged,
    ObjectLock,
    ObjectStat,
    ScopedWrites,
    StorageWrapper,
    WrappedKeys,
)
from strongroom_storage_encrypted.age_format import (
    FILE_KEY_BYTES,
    HEADER_BYTES,
    PAYLOAD_NONCE_BYTES,
    PIECE,
    PREFIX_BYTES,
    SEALED_PIECE,
    Pieces,
    WrongKey,
    content_size,
    parse_header,
    sealed_size,
)
from strongroom_storage_encrypted.keyring import KEYS, Keyring

_PIECES_AT_ONCE: Final = 4
_REMEMBERED: Final = 4096


class EncryptedStorage(StorageWrapper[NoOptions], ScopedWrites, WrappedKeys):
    """Encrypts each object with a key of its own, which a key per tenant wraps."""

    name = "encrypted"

    def __init__(self, options: NoOptions, storage: InnerStorage) -> None:
        super().__init__(options, storage)
        self._keyring = Keyring(self.inner, storage.keys())
        self._opened = _OpenedObjects(_REMEMBERED)

    def capability(self, kind: type[CapabilityT]) -> CapabilityT | None:
        # An object is one object of the inner store under the same key, so its lock is the same.
        if kind is ObjectLock:
            return self.inner.capability(kind)
        return super().capability(kind)

    def put(self, key: str, source: ByteSource, *, size: int | None = None) -> int:
        return self._put(None, key, source, size)

    def put_in(self, scope: str, key: str, source: ByteSource, *, size: int | None = None) -> int:
        return self._put(scope, key, source, size)

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        if start == 0 and length != 0:
            return self._from_start(key, length)
        return self._range(key, start, length)

    def stat(self, key: str) -> ObjectStat:
        return _with_content_size(self.inner.stat(key))

    def delete(self, key: str) -> None:
        self._opened.forget(key)
        self.inner.delete(key)

    def scan(self, prefix: str = "") -> Iterator[ObjectStat]:
        for stat in self.inner.scan(prefix):
            if not stat.key.startswith(KEYS):
                yield _with_content_size(stat)

    def drop_scope(self, scope: str) -> None:
        self._keyring.drop(scope)
        self._opened.clear()

    def rewrap(self) -> int:
        return self._keyring.rewrap()

    def export_keys(self, scope: str | None) -> str:
        return self._keyring.export(scope)

    def _put(self, scope: str | None, key: str, source: ByteSource, size: int | None) -> int:
        self._opened.forget(key)
        sealing = _SealingSource(source, *self._begin(scope, key))
        self.inner.put(key, sealing, size=None if size is None else sealed_size(size))
        return sealing.size

    def _begin(self, scope: str | None, key: str) -> tuple[bytes, Pieces]:
        """Return the bytes before the first piece of a new object, and the cipher of its pieces."""
        file_key = secrets.token_bytes(FILE_KEY_BYTES)
        nonce = secrets.token_bytes(PAYLOAD_NONCE_BYTES)
        return self._keyring.get_key(scope).header(key, file_key) + nonce, Pieces(file_key, nonce)

    @contextmanager
    def _from_start(self, key: str, length: int | None) -> Iterator[Iterator[bytes]]:
        requested = None if length is None else _count(length) * SEALED_PIECE
        inner_length = None if requested is None else PREFIX_BYTES + requested
        with self.inner.open(key, length=inner_length) as chunks, _explained(key):
            reader = _Reader(chunks)
            pieces = self._unlock(key, reader.read(PREFIX_BYTES))
            yield _limited(_opened_pieces(key, reader, pieces, 0, requested), 0, length)

    @contextmanager
    def _range(self, key: str, start: int, length: int | None) -> Iterator[Iterator[bytes]]:
        with _explained(key):
            pieces = self._opened.get(key, lambda: self._read_prefix(key))
        if length == 0:
            yield iter(())
            return
        first, skipped = divmod(start, PIECE)
        requested = None if length is None else _count(skipped + length) * SEALED_PIECE
        with self.inner.open(key, start=PREFIX_BYTES + first * SEALED_PIECE, length=requested) as chunks:
            reader = _Reader(chunks)
            if not reader.fill(1):
                self._require_end(key, pieces)
                yield iter(())
                return
            yield _limited(_opened_pieces(key, reader, pieces, first, requested), skipped, length)

    def _read_prefix(self, key: str) -> Pieces:
        with self.inner.open(key, length=PREFIX_BYTES) as chunks:
            return self._unlock(key, b"".join(chunks))

    def _unlock(self, key: str, prefix: bytes) -> Pieces:
        header = parse_header(prefix[:HEADER_BYTES])
        file_key = self._keyring.key(header.key_name).open(header, key)
        return Pieces(file_key, prefix[HEADER_BYTES:])

    def _require_end(self, key: str, pieces: Pieces) -> None:
        """Raise unless the object ends with its last piece: the range may be missing otherwise."""
        payload = self.inner.stat(key).size - PREFIX_BYTES
        number = max(0, payload - 1) // SEALED_PIECE
        start = PREFIX_BYTES + number * SEALED_PIECE
        with self.inner.open(key, start=start) as chunks, _explained(key):
            pieces.open(number, b"".join(chunks), is_last=True)


class _SealingSource:
    """The encrypted bytes of a source. ``size`` is the number of bytes read from it."""

    def __init__(self, source: ByteSource, prefix: bytes, pieces: Pieces) -> None:
        self._source = source
        self._pieces = pieces
        self._ready = memoryview(prefix)
        self._held = bytearray()
        self._number = 0
        self._is_ended = False
        self.size = 0

    def read(self, size: int, /) -> bytes:
        if not self._ready and not self._is_ended:
            self._ready = memoryview(self._next())
        taken, self._ready = self._ready[:size], self._ready[size:]
        return bytes(taken)

    def _next(self) -> bytes:
        size = _PIECES_AT_ONCE * PIECE
        # One more byte than is sealed: only a piece that is followed by another is not the last.
        while len(self._held) <= size and (chunk := self._source.read(size)):
            self._held += chunk
            self.size += len(chunk)
        self._is_ended = len(self._held) <= size
        content = bytes(self._held[:size])
        del self._held[:size]
        return b"".join(self._sealed(memoryview(content)))

    def _sealed(self, content: memoryview) -> Iterator[bytes]:
        # An empty object has one empty piece.
        for start in range(0, len(content) or 1, PIECE):
            is_last = self._is_ended and start + PIECE >= len(content)
            yield self._pieces.seal(self._number, content[start : start + PIECE], is_last=is_last)
            self._number += 1


class _Reader:
    """Reads exact numbers of bytes from chunks."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = iter(chunks)
        self._held = bytearray()

    def fill(self, size: int) -> bool:
        """Return whether ``size`` bytes are left."""
        while len(self._held) < size and (chunk := next(self._chunks, b"")):
            self._held += chunk
        return len(self._held) >= size

    def read(self, size: int) -> bytes:
        """Return the next ``size`` bytes, or fewer at the end."""
        self.fill(size)
        taken = bytes(memoryview(self._held)[:size])
        del self._held[:size]
        return taken


class _OpenedObjects:
    """The ciphers of the objects with the latest range reads, so that a range needs one request."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._pieces: OrderedDict[str, Pieces] = OrderedDict()

    def get(self, key: str, read: Callable[[], Pieces]) -> Pieces:
        """Return the cipher of an object, which ``read`` returns if it is not known."""
        with self._lock:
            if key in self._pieces:
                self._pieces.move_to_end(key)
                return self._pieces[key]
        pieces = read()
        with self._lock:
            self._pieces[key] = pieces
            if len(self._pieces) > self._limit:
                self._pieces.popitem(last=False)
        return pieces

    def forget(self, key: str) -> None:
        """Forget an object that is written or deleted."""
        with self._lock:
            self._pieces.pop(key, None)

    def clear(self) -> None:
        """Forget all objects."""
        with self._lock:
            self._pieces.clear()


def _opened_pieces(
    key: str, reader: _Reader, pieces: Pieces, number: int, requested: int | None
) -> Iterator[bytes]:
    """Yield the content of the pieces that a reader returns; the first one has ``number``.

    Args:
        key: the key of the object, for messages.
        reader: reads the encrypted pieces.
        pieces: decrypts them.
        number: the number of the first piece.
        requested: the number of bytes that were requested; ``None``: up to the end of the object.
    """
    received = 0
    while True:
        sealed = reader.read(SEALED_PIECE)
        received += len(sealed)
        has_more = reader.fill(1)
        # A range may end before the last piece or with it. All else that ends is the end of the object.
        is_last = None if received == requested else not has_more
        with _explained(key):
            content = pieces.open(number, sealed, is_last=is_last)
        yield content
        number += 1
        if not has_more:
            return


def _limited(chunks: Iterator[bytes], skipped: int, length: int | None) -> Iterator[bytes]:
    """Yield ``length`` bytes, or all, after the first ``skipped`` ones of the first chunk."""
    for chunk in chunks:
        piece = chunk[skipped:] if length is None else chunk[skipped : skipped + length]
        skipped = 0
        length = None if length is None else length - len(piece)
        if piece:
            yield piece


def _count(size: int) -> int:
    return -(-size // PIECE)


def _with_content_size(stat: ObjectStat) -> ObjectStat:
    return ObjectStat(stat.key, content_size(stat.size), stat.modified_at)


@contextmanager
def _explained(key: str) -> Iterator[None]:
    try:
        yield
    except WrongKey as error:
        raise ObjectDamaged(f"{key}: {error}") from error
