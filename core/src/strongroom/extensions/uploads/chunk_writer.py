"""Writes the chunks of a resumable upload."""

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import KW_ONLY, dataclass
from functools import partial
from hmac import compare_digest
from typing import Final

from strongroom.clock import Clock
from strongroom.content.nodes.destinations import OnConflict, Target
from strongroom.content.nodes.file_writer import FileWriter
from strongroom.content.storage.service import BlobService, ReceivedBlob
from strongroom.content.storage.streams import HEAD_BYTES
from strongroom.extensions.uploads.repository import LEASE, Upload, UploadPart, UploadRepository
from strongroom.extensions.uploads.visitors import VisitorUploads
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.errors import ChecksumMismatch, PayloadTooLarge, UploadIncomplete
from strongroom.plugin_api.storage import ByteSource, ByteStream

CHUNK_SIZE: Final = 256 * 1024


class ArrivingBytes:
    """The body of one request. A broken connection ends it instead of raising an error.

    So the bytes that arrived before are stored, and the client resumes after them.

    Args:
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
            # Only a read can find out whether the body has ended; take() returns the piece later.
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


@dataclass(slots=True, eq=False, repr=False)
class BoundedSource:
    """The next bytes of a request's body, up to a maximum number."""

    _arriving: ArrivingBytes
    _rest: int

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
        # One after the other, so that an upload of many parts needs one connection to the store.
        for opener in openers:
            with opener() as chunks:
                yield from chunks


PART_BYTES: Final = 64 * 1024 * 1024
"""Size of a part in bytes. Each part is committed, so a crash loses at most one part."""

_REMOVED_AT_ONCE: Final = 20


@dataclass(frozen=True, slots=True)
class Checksum:
    """Declared digest of a request's body. ``algorithm`` is hashlib's name."""

    algorithm: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """The body of one request.

    Args:
        source: reads the body.
        size: in bytes; ``None`` if unknown.
        checksum: the declared digest, if any.
    """

    source: ByteSource
    size: int | None
    checksum: Checksum | None


@dataclass(slots=True, eq=False, repr=False)
class ChunkWriter:
    """Receives pieces of uploads while the caller holds the upload's lease.

    Args:
        part_bytes: maximum size of a part, in bytes.
    """

    _database: Database
    _clock: Clock
    _repository: UploadRepository
    _file_writer: FileWriter
    _blobs: BlobService
    _visitors: VisitorUploads
    _: KW_ONLY
    part_bytes: int = PART_BYTES

    def receive(self, caller: AnyCaller, upload: Upload, lease: str, piece: Piece) -> Upload:
        """Store a piece, and return the updated upload.

        A piece with a checksum is stored as one part, because none of its bytes may be acknowledged
        before the digest is verified.

        Raises:
            PayloadTooLarge: the body exceeds the upload's length; its last part is discarded.
            ChecksumMismatch: the body does not match its checksum.
            UploadIncomplete: the connection broke before a body with a checksum was complete.
            UploadLocked: the lease expired, and another request acquired it.
            Forbidden, NotFound, NameConflict, StorageFull: the file cannot be created.
            ContentInfected, ContentUnscannable, ApiError: a content scanner refuses the content.
        """
        heartbeat = self._heartbeat(upload.id, lease)
        algorithm = piece.checksum.algorithm if piece.checksum else None
        arriving = ArrivingBytes(piece.source, heartbeat, algorithm)
        while (rest := upload.size - upload.received) > 0 and arriving.has_more():
            bound = rest if piece.checksum else min(rest, self.part_bytes)
            upload = self._take_part(caller, upload, lease, piece, arriving, bound)
        # An empty file has no bytes to loop over, but is completed by an empty part, too.
        if not upload.size:
            upload = self._take_part(caller, upload, lease, piece, arriving, 0)
        return upload

    def _take_part(
        self,
        caller: AnyCaller,
        upload: Upload,
        lease: str,
        piece: Piece,
        arriving: ArrivingBytes,
        bound: int,
    ) -> Upload:
        part = self._blobs.receive(
            BoundedSource(arriving, bound),
            size=None,
            max_bytes=bound,
            inspect=partial(self._check_type_early, upload),
            scope=upload.tenant_id,
        )
        try:
            _check(piece.checksum, arriving)
            if upload.received + part.blob.size == upload.size:
                _require_end(arriving)
                return self._complete(caller, upload, lease, part)
            return self._advance(upload, lease, part)
        except BaseException:
            self._blobs.discard(part.blob.key)
            raise

    def _advance(self, upload: Upload, lease: str, part: ReceivedBlob) -> Upload:
        received = upload.received + part.blob.size
        # One transaction, so the acknowledged offset never exceeds the stored parts.
        with self._database.write() as connection:
            advanced = self._visitors.advance(connection, upload, received)
            self._repository.advance(connection, advanced, lease, part.blob)
            self._blobs.commit(connection, part.blob)
        return advanced

    def _complete(self, caller: AnyCaller, upload: Upload, lease: str, last: ReceivedBlob) -> Upload:
        with self._database.read() as connection:
            parts = self._repository.parts(connection, upload.id)
        whole = self._joined(upload, lease, [*parts, UploadPart(last.blob.key, last.blob.size)])
        try:
            complete = self._file_writer.inspect(caller, whole or last, upload.name)
            with self._database.write() as connection:
                # Renewing also checks that no other request has acquired the lease since.
                self._repository.renew(connection, upload.id, lease)
                view = self._file_writer.commit(
                    connection, caller, _target(upload), complete, reserved=upload.reservation
                )
                finished = self._repository.finish(connection, upload, lease, view.node.id)
                released = self._blobs.release(
                    connection, [part.blob_key for part in parts], at_once=True
                )
        except BaseException:
            if whole:
                self._blobs.discard(whole.blob.key)
            raise
        if whole:
            # The joined blob contains the last part.
            self._blobs.discard(last.blob.key)
        # The client waits for this response, so garbage collection deletes the others.
        self._blobs.remove(released[:_REMOVED_AT_ONCE])
        return finished

    def _joined(self, upload: Upload, lease: str, parts: list[UploadPart]) -> ReceivedBlob | None:
        """Store the parts as one blob; return ``None`` if there is only one part."""
        if len(parts) == 1:
            return None
        openers = [partial(self._blobs.open, part.blob_key, 0, part.size) for part in parts]
        source = JoinedSource(openers, self._heartbeat(upload.id, lease))
        with closing(source):
            return self._blobs.receive(
                source, size=upload.size, max_bytes=upload.size, scope=upload.tenant_id
            )

    def _check_type_early(self, upload: Upload, head: bytes) -> None:
        """Reject a type that is not accepted from the first bytes, if there are enough to detect it."""
        if upload.received == 0 and len(head) == HEAD_BYTES:
            self._file_writer.rules.detect_type(head, upload.name)

    def _heartbeat(self, upload_id: str, lease: str) -> Callable[[], None]:
        """Return a function that renews the lease when due; it must be called regularly."""
        # Renewed after a third of its lifetime, so that a slow write does not lose it.
        due = self._clock.now() + LEASE // 3

        def beat() -> None:
            nonlocal due
            if self._clock.now() >= due:
                with self._database.write() as connection:
                    self._repository.renew(connection, upload_id, lease)
                due = self._clock.now() + LEASE // 3

        return beat


def _check(checksum: Checksum | None, arriving: ArrivingBytes) -> None:
    if checksum is None:
        return
    if arriving.has_broken:
        raise UploadIncomplete
    if not compare_digest(arriving.digest(), checksum.digest):
        raise ChecksumMismatch


def _require_end(arriving: ArrivingBytes) -> None:
    if arriving.has_more():
        raise PayloadTooLarge("The body exceeds the upload's length.")


def _target(upload: Upload) -> Target:
    conflict = OnConflict(upload.on_conflict)
    folders = tuple(upload.folders.split("/")) if upload.folders else ()
    return Target(upload.tenant_id, upload.parent_id, upload.name, conflict, folders)
