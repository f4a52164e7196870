"""Downloads that continue after a broken connection or a killed process."""

import base64
import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, Final

import httpx

from ..api import files
from ..concurrency import in_thread, sleep
from ..errors import ConnectionFailed, IntegrityError
from ..files import READ_BYTES, hash_next, publish
from ..models import Node
from ..operations import UNSET, Operation
from ..transfers import Progress, Report
from .session import Session

_PARTIAL: Final = 206
_ROUNDS: Final = 3
"""How often a download begins again because the file was replaced meanwhile."""


class Downloader:
    """Downloads files of one session.

    Args:
        session: sends the requests.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def download(self, tenant_id: str, file_id: str, path: Path, report: Report) -> Path:
        """Download a file to a path, which appears only when it is complete and has the right checksum.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: the connection broke too often; the next call continues the download.
            IntegrityError: the content differs from the checksum of the file.
            OSError: the file system does not take the name.
        """
        # Before the content is downloaded: a name that is too long is an error of its own.
        with suppress(FileNotFoundError):
            path.lstat()
        for _ in range(_ROUNDS):
            node = self._file(tenant_id, file_id)
            part = _part_of(path, node)
            if self._fetch(node, part, report):
                in_thread(publish, part, path)
                return path
            part.unlink()
        raise IntegrityError(f"the file {file_id} is being replaced, or its content is damaged")

    def stream(self, tenant_id: str, file_id: str, report: Report) -> Iterator[bytes]:
        """Iterate over the content of a file.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: the connection broke too often.
            IntegrityError: the content differs from the checksum of the file, or was replaced meanwhile.
        """
        node = self._file(tenant_id, file_id)
        received = _Received(node)
        attempt = 0
        while received.offset < node.size:
            before = received.offset
            try:
                with self._session.stream(_rest_of(node, received.offset, received.etag)) as response:
                    received.begin(response)
                    for piece in _pieces(response):
                        received.add(piece)
                        report(Progress(received.offset, node.size))
                        yield piece
            except ConnectionFailed as fault:
                attempt = 1 if received.offset > before else attempt + 1
                wait = self._session.retries.wait_after_piece(attempt, fault)
                if wait is None:
                    raise
                sleep(wait)
        received.check()

    def _file(self, tenant_id: str, file_id: str) -> Node:
        node = self._session.send(files.get_file(tenant_id, file_id))
        if node.checksum is None:
            # A folder: the server refuses it with the right error.
            self._session.request(files.download_file(tenant_id, file_id))
        return node

    def _fetch(self, node: Node, part: Path, report: Report) -> bool:
        """Complete the local part of a file, and return whether it has the checksum of the file."""
        with part.open("ab+") as file:
            transfer = _Transfer(node, file, report)
            in_thread(transfer.read_existing)
            etag = self._etag(node) if transfer.offset else None
            attempt = 0
            while transfer.offset < node.size:
                before = transfer.offset
                try:
                    etag = self._receive(transfer, etag)
                except ConnectionFailed as fault:
                    attempt = 1 if transfer.offset > before else attempt + 1
                    wait = self._session.retries.wait_after_piece(attempt, fault)
                    if wait is None:
                        raise
                    sleep(wait)
                else:
                    if transfer.is_other_content:
                        return False
            in_thread(transfer.sync)
        return transfer.is_right

    def _etag(self, node: Node) -> str | None:
        """Return the ETag of the content; an object store that serves it has none of ours."""
        head = files.download_file(node.tenant_id, node.id)
        response = self._session.request(Operation("HEAD", head.path, bytes), is_streamed=False)
        return _etag_of(response)

    def _receive(self, transfer: "_Transfer", etag: str | None) -> str | None:
        """Receive the rest of a file until the connection breaks, and return its ETag."""
        operation = _rest_of(transfer.node, transfer.offset, etag)
        with self._session.stream(operation) as response:
            transfer.begin(response)
            for piece in _pieces(response):
                transfer.write(piece)
            return _etag_of(response)


def _pieces(response: httpx.Response) -> Iterator[bytes]:
    try:
        for piece in response.iter_bytes(READ_BYTES):
            yield piece
    except httpx.TransportError as error:
        raise ConnectionFailed(f"{type(error).__name__}: {error}") from error


def _rest_of(node: Node, offset: int, etag: str | None) -> Operation[bytes]:
    """Return the operation that downloads a file from an offset."""
    return files.download_file(
        node.tenant_id,
        node.id,
        range_=f"bytes={offset}-" if offset else UNSET,
        if_range=etag if offset and etag is not None else UNSET,
    )


class _Received:
    """The content that a stream has passed on.

    Args:
        node: the file.
    """

    def __init__(self, node: Node) -> None:
        self.offset = 0
        self.etag: str | None = None
        self._node = node
        self._digest = hashlib.sha256()

    def begin(self, response: httpx.Response) -> None:
        """Prepare for a response, which must be of the same content.

        Raises:
            IntegrityError: the file was replaced.
        """
        digest = response.headers.get("Repr-Digest")
        is_other = digest is not None and digest != _announced(self._node)
        if is_other or (self.offset and response.status_code != _PARTIAL):
            raise IntegrityError(f"the file {self._node.id} was replaced meanwhile")
        self.etag = _etag_of(response)

    def add(self, piece: bytes) -> None:
        """Count a piece."""
        self._digest.update(piece)
        self.offset += len(piece)

    def check(self) -> None:
        """Compare the checksum.

        Raises:
            IntegrityError: it differs.
        """
        if f"sha256:{self._digest.hexdigest()}" != self._node.checksum:
            raise IntegrityError(f"the content of the file {self._node.id} is damaged")


class _Transfer:
    """The local part of a file that is downloaded.

    Args:
        node: the file.
        file: the part, open for reading and appending.
        report: called after each piece.
    """

    def __init__(self, node: Node, file: BinaryIO, report: Report) -> None:
        self.node = node
        self.offset = 0
        self.is_other_content = False
        self._file = file
        self._report = report
        self._digest = hashlib.sha256()

    @property
    def is_right(self) -> bool:
        """Whether the content has the checksum of the file."""
        return f"sha256:{self._digest.hexdigest()}" == self.node.checksum

    def read_existing(self) -> None:
        """Hash the part that an earlier process has left."""
        size = os.fstat(self._file.fileno()).st_size
        if size > self.node.size:
            self._file.truncate(0)
            size = 0
        self._file.seek(0)
        hash_next(self._file, self._digest, size)
        self.offset = size
        self._report(Progress(size, self.node.size))

    def begin(self, response: httpx.Response) -> None:
        """Prepare for a response: of the rest, or of the whole file if its content has changed."""
        digest = response.headers.get("Repr-Digest")
        self.is_other_content = digest is not None and digest != _announced(self.node)
        if response.status_code != _PARTIAL and self.offset:
            self._file.truncate(0)
            self.offset = 0
            self._digest = hashlib.sha256()

    def write(self, piece: bytes) -> None:
        """Append a piece."""
        if self.is_other_content:
            return
        self._file.write(piece)
        self._digest.update(piece)
        self.offset += len(piece)
        self._report(Progress(self.offset, self.node.size))

    def sync(self) -> None:
        """Wait until the part is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())


def _part_of(path: Path, node: Node) -> Path:
    """Return the path of the part, which names the content, so that parts of two contents never mix.

    It is shorter than the longest name of a file system, however long the name of the file is.
    """
    content = (node.checksum or "").removeprefix("sha256:")[:16]
    name = hashlib.sha256(path.name.encode(errors="surrogateescape")).hexdigest()[:16]
    return path.with_name(f".{name}.{content}.part")


def _etag_of(response: httpx.Response) -> str | None:
    etag: str | None = response.headers.get("ETag")
    return etag


def _announced(node: Node) -> str:
    digest = bytes.fromhex((node.checksum or "").removeprefix("sha256:"))
    return f"sha-256=:{base64.b64encode(digest).decode()}:"
