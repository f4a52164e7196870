"""Uploads that continue after a broken connection or a killed process, by tus 1.0."""

import base64
import hashlib
from dataclasses import dataclass
from typing import BinaryIO, Final
from urllib.parse import quote

from ..api import files, uploads
from ..concurrency import in_thread, sleep
from ..errors import ConnectionFailed, IntegrityError, NotFoundError, StrongroomError
from ..files import Source, hash_next
from ..models import Node
from ..operations import Operation
from ..transfers import ONE_REQUEST_BYTES, PIECE_BYTES, Progress, Report, Target, UploadStates
from .session import Session

_VERSION: Final = "1.0.0"


class Uploader:
    """Uploads files of one session.

    Args:
        session: sends the requests.
        states: remembers unfinished uploads.
    """

    def __init__(self, session: Session, states: UploadStates) -> None:
        self._session = session
        self._states = states

    def upload(self, source: Source, target: Target, report: Report) -> Node:
        """Upload a file and return its node, after its checksum was compared.

        Raises:
            ApiError: the server refused the file.
            ConnectionFailed: the connection broke too often; the next call continues the upload.
            SourceChanged: the file was changed during the upload.
            IntegrityError: the stored content differs from the file.
        """
        if source.size <= ONE_REQUEST_BYTES:
            return self._send_whole(source, target, report)
        known = source.fingerprint(self._session.url, target.tenant_id, target.parent_id, target.name)
        upload_id, offset = self._resumed(target, known) if known else (None, 0)
        if upload_id is None:
            upload_id = self._create(source, target)
            if known:
                self._states.remember(known, upload_id)
        upload = _Upload(self._session, target.tenant_id, upload_id)
        digest = self._send_rest(upload, source, offset, report)
        node = self._finished(upload, source.size)
        if known:
            self._states.forget(known)
        _compare(node, digest)
        return node

    def _send_whole(self, source: Source, target: Target, report: Report) -> Node:
        content = in_thread(_read_all, source)
        digest = hashlib.sha256(content)
        node = self._session.send(_whole(target, content, digest.digest()))
        _compare(node, digest)
        report(Progress(source.size, source.size))
        return node

    def _resumed(self, target: Target, fingerprint: str) -> tuple[str | None, int]:
        """Return the id and the offset of an unfinished upload, or ``None`` without one."""
        upload_id = self._states.find(fingerprint)
        if upload_id is None:
            return None, 0
        try:
            return upload_id, _Upload(self._session, target.tenant_id, upload_id).offset()
        except NotFoundError:
            self._states.forget(fingerprint)
            return None, 0

    def _create(self, source: Source, target: Target) -> str:
        metadata = {"filename": target.name, "onConflict": target.on_conflict}
        if target.parent_id is not None:
            metadata["parentId"] = target.parent_id
        operation = uploads.create_upload(
            target.tenant_id,
            content=b"",
            tus_resumable=_VERSION,
            upload_length=str(source.size),
            upload_metadata=",".join(
                f"{key} {_base64(text.encode())}" for key, text in metadata.items()
            ),
        )
        return (self._session.send(operation)).id

    def _send_rest(
        self, upload: "_Upload", source: Source, offset: int, report: Report
    ) -> "hashlib._Hash":
        """Send the file from an offset, and return the digest of the whole file."""
        digest = hashlib.sha256()
        with source.open() as file:
            in_thread(hash_next, file, digest, offset)
            report(Progress(offset, source.size))
            while offset < source.size:
                piece = in_thread(_read_piece, file, digest)
                # Before the last piece, which creates the file.
                source.check()
                upload.append(piece, offset)
                offset += len(piece)
                report(Progress(offset, source.size))
        return digest

    def _finished(self, upload: "_Upload", size: int) -> Node:
        file_id = upload.file_id()
        if file_id is None:
            # All bytes had arrived, but the file was not created: for example, its name was taken.
            upload.append(b"", size)
            file_id = upload.file_id()
        if file_id is None:
            raise IntegrityError("the server has not created the file")
        return self._session.send(files.get_file(upload.tenant_id, file_id))


@dataclass(frozen=True, slots=True)
class _Upload:
    """An upload on the server."""

    session: Session
    tenant_id: str
    id: str

    def offset(self) -> int:
        """Return the number of stored bytes."""
        state = uploads.get_upload(self.tenant_id, self.id, tus_resumable=_VERSION)
        return (self.session.send(state)).offset

    def file_id(self) -> str | None:
        """Return the created file."""
        return (self.session.send(uploads.get_upload(self.tenant_id, self.id))).file_id

    def append(self, piece: bytes, start: int) -> None:
        """Send a piece, from where the server has it after each fault."""
        sent = attempt = 0
        while True:
            try:
                self.session.send(self._patch(piece[sent:], start + sent))
                return
            except StrongroomError as fault:
                attempt += 1
                wait = self.session.retries.wait_after_piece(attempt, fault)
                if wait is None:
                    raise
            sleep(wait)
            before, sent = sent, self._arrived(start, len(piece), sent)
            if sent == len(piece):
                return
            if sent > before:
                attempt = 0

    def _arrived(self, start: int, length: int, sent: int) -> int:
        """Return how much of a piece has arrived; an unreachable server leaves the former number."""
        try:
            arrived = self.offset() - start
        except ConnectionFailed:
            return sent
        if arrived < 0:
            raise IntegrityError("the server has less of the upload than before")
        # More, if another process uploads the same file: it has the same bytes.
        return min(arrived, length)

    def _patch(self, content: bytes, offset: int) -> Operation[None]:
        return uploads.append_to_upload(
            self.tenant_id,
            self.id,
            content=content,
            tus_resumable=_VERSION,
            upload_offset=str(offset),
            upload_checksum=f"sha256 {_base64(hashlib.sha256(content).digest())}",
        )


def _read_all(source: Source) -> bytes:
    with source.open() as file:
        return file.read()


def _read_piece(file: BinaryIO, digest: "hashlib._Hash") -> bytes:
    piece = file.read(PIECE_BYTES)
    digest.update(piece)
    return piece


def _whole(target: Target, content: bytes, digest: bytes) -> Operation[Node]:
    conflict = target.on_conflict
    # RFC 6266: the name in UTF-8, percent-encoded.
    disposition = f"attachment; filename*=UTF-8''{quote(target.name, safe='')}"
    announced = f"sha-256=:{_base64(digest)}:"
    if target.parent_id is None:
        return files.upload_file(
            target.tenant_id,
            content=content,
            on_conflict=conflict,
            content_disposition=disposition,
            content_digest=announced,
        )
    return files.upload_file_into_folder(
        target.tenant_id,
        target.parent_id,
        content=content,
        on_conflict=conflict,
        content_disposition=disposition,
        content_digest=announced,
    )


def _compare(node: Node, digest: "hashlib._Hash") -> None:
    if node.checksum != f"sha256:{digest.hexdigest()}":
        raise IntegrityError(f"the server stored {node.checksum}, not the sent content")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
