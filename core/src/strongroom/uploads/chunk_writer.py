"""Stores the bytes that a request brings, and joins the parts once the last one is there."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from hmac import compare_digest
from typing import Final

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.errors import ChecksumMismatch, PayloadTooLarge, UploadIncomplete
from strongroom.files.filing import Filing, OnConflict, Target
from strongroom.identity import Identity
from strongroom.plugin_api.storage import ByteSource
from strongroom.storage.service import BlobService, ReceivedBlob
from strongroom.storage.source import HEAD_BYTES
from strongroom.uploads.models import Upload
from strongroom.uploads.repository import LEASE, Ledger, Part
from strongroom.uploads.sources import ArrivingBytes, BoundedSource, JoinedSource

PART_BYTES: Final = 64 * 1024 * 1024
"""How much may be lost at most when the server dies: what arrives is acknowledged by such parts."""

_REMOVED_AT_ONCE: Final = 20


@dataclass(frozen=True, slots=True)
class Checksum:
    """What the bytes of one request are to hash to. ``algorithm`` is hashlib's name for it."""

    algorithm: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class Piece:
    """The bytes that one request brings.

    Args:
        source: the bytes.
        size: how many they are, where that is known.
        checksum: what they are to hash to, where that was said.
    """

    source: ByteSource
    size: int | None
    checksum: Checksum | None


class Reception:
    """Takes pieces of uploads whose lease the caller holds.

    Args:
        database: where uploads are kept.
        clock: the time.
        ledger: the record of them.
        filing: takes what they become.
        blobs: keeps bytes.
        part_bytes: the size of the parts that a piece is stored in.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        ledger: Ledger,
        filing: Filing,
        blobs: BlobService,
        *,
        part_bytes: int = PART_BYTES,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._filing = filing
        self._blobs = blobs
        self._part_bytes = part_bytes

    def receive(self, identity: Identity, upload: Upload, lease: str, piece: Piece) -> Upload:
        """Store what arrives, and return the upload as it is then.

        Bytes that are to hash to something are one part, for none of them counts before all do.

        Raises:
            PayloadTooLarge: there is more than was announced; what came in the last part is dropped.
            ChecksumMismatch: the bytes do not hash to what was said.
            UploadIncomplete: some are missing of what hashes to it.
            Forbidden, NotFound, NameConflict, StorageFull: it cannot become a file.
        """
        heartbeat = self._heartbeat(upload.id, lease)
        algorithm = piece.checksum.algorithm if piece.checksum else None
        arriving = ArrivingBytes(piece.source, heartbeat, algorithm)
        while (rest := upload.size - upload.received) > 0 and arriving.has_more():
            bound = rest if piece.checksum else min(rest, self._part_bytes)
            upload = self._take_part(identity, upload, lease, piece, arriving, bound)
        if not upload.size:
            upload = self._take_part(identity, upload, lease, piece, arriving, 0)
        return upload

    def _take_part(
        self,
        identity: Identity,
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
            inspect=partial(self._judge_early, upload),
        )
        try:
            _check(piece.checksum, arriving)
            if upload.received + part.blob.size == upload.size:
                _require_end(arriving)
                return self._complete(identity, upload, lease, part)
            with self._database.write() as connection:
                self._ledger.advance(connection, upload, lease, part.blob)
                self._blobs.keep(connection, part.blob)
        except BaseException:
            self._blobs.discard(part.blob.key)
            raise
        return replace(
            upload,
            received=upload.received + part.blob.size,
            expires_at=self._clock.now() + self._ledger.lifetime,
        )

    def _complete(self, identity: Identity, upload: Upload, lease: str, last: ReceivedBlob) -> Upload:
        with self._database.read() as connection:
            parts = self._ledger.parts(connection, upload.id)
        whole = self._joined(upload, lease, [*parts, Part(last.blob.key, last.blob.size)])
        try:
            with self._database.write() as connection:
                self._ledger.renew(connection, upload.id, lease)
                view = self._filing.store(
                    connection, identity, _target(upload), whole or last, reserved=upload.size
                )
                finished = self._ledger.finish(connection, upload, lease, view.node.id)
                released = self._blobs.release(connection, [part.blob_key for part in parts])
        except BaseException:
            if whole:
                self._blobs.discard(whole.blob.key)
            raise
        if whole:
            self._blobs.discard(last.blob.key)
        self._blobs.remove(released[:_REMOVED_AT_ONCE])
        return finished

    def _joined(self, upload: Upload, lease: str, parts: list[Part]) -> ReceivedBlob | None:
        """Store the parts as one, unless they are."""
        if len(parts) == 1:
            return None
        openers = [partial(self._blobs.open, part.blob_key, 0, part.size) for part in parts]
        source = JoinedSource(openers, self._heartbeat(upload.id, lease))
        with closing(source):
            return self._blobs.receive(source, size=upload.size, max_bytes=upload.size)

    def _judge_early(self, upload: Upload, head: bytes) -> None:
        """Refuse the first bytes of what will not be accepted, if they are enough to tell."""
        if upload.received == 0 and len(head) == HEAD_BYTES:
            self._filing.judge(head, upload.name)

    def _heartbeat(self, upload_id: str, lease: str) -> Callable[[], None]:
        """Return what keeps the lease alive if it is called often enough."""
        due = self._clock.now() + LEASE // 3

        def beat() -> None:
            nonlocal due
            if self._clock.now() >= due:
                with self._database.write() as connection:
                    self._ledger.renew(connection, upload_id, lease)
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
        raise PayloadTooLarge("There are more bytes than the upload's length.")


def _target(upload: Upload) -> Target:
    conflict = OnConflict(upload.on_conflict)
    return Target(upload.tenant_id, upload.parent_id, upload.name, conflict)
