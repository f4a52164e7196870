"""Bytes on disk, with the digests that OSS stores."""

import base64
import binascii
import hashlib
import secrets
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from strongroom_simulators.oss.crc64 import crc64, join
from strongroom_simulators.oss.errors import OssError
from strongroom_simulators.oss.request import CHUNK_SIZE, Body

JOINING_SIZE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Blob:
    """An immutable file and the digests of its content."""

    path: Path
    size: int
    etag: str
    crc64: int

    def check_digest(self, content_md5: str | None) -> None:
        """Raise ``InvalidDigest`` if a ``Content-MD5`` is present and does not match."""
        if content_md5 is not None and _decode(content_md5) != bytes.fromhex(self.etag):
            raise OssError(400, "InvalidDigest", "The Content-MD5 you specified was invalid.")


class BlobFolder:
    """The folder of all blobs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, pieces: Iterable[bytes]) -> Blob:
        """Write a new blob; remove it if ``pieces`` raises."""
        path = self._folder / secrets.token_hex(16)
        md5, crc, size = hashlib.md5(usedforsecurity=False), 0, 0
        try:
            with path.open("xb", buffering=0) as file:
                for piece in pieces:
                    file.write(piece)
                    md5.update(piece)
                    crc = crc64(piece, crc)
                    size += len(piece)
        except BaseException:
            path.unlink()
            raise
        return Blob(path, size, md5.hexdigest().upper(), crc)

    def join(self, parts: Sequence[Blob]) -> Blob:
        """Concatenate blobs; the digest is computed from theirs without hashing the bytes again."""
        path = self._folder / secrets.token_hex(16)
        with path.open("xb") as target:
            for part in parts:
                with part.path.open("rb") as source:
                    shutil.copyfileobj(source, target, JOINING_SIZE)
        digests = b"".join(bytes.fromhex(part.etag) for part in parts)
        digest = hashlib.md5(digests, usedforsecurity=False).hexdigest().upper()
        size, crc = 0, 0
        for part in parts:
            size, crc = size + part.size, join(crc, part.crc64, part.size)
        return Blob(path, size, f"{digest}-{len(parts)}", crc)


def pieces_of_body(body: Body, *, at_most: int) -> Iterator[bytes]:
    """Iterate over a request's body; raise ``EntityTooLarge`` beyond ``at_most`` bytes."""
    size = 0
    while piece := body.read(CHUNK_SIZE):
        size += len(piece)
        if size > at_most:
            raise OssError(400, "EntityTooLarge", "Your proposed upload is too large.")
        yield piece


def pieces_of_file(file: BinaryIO, length: int) -> Iterator[bytes]:
    """Iterate over the next ``length`` bytes of an open file, and close it."""
    with file:
        while length and (piece := file.read(min(CHUNK_SIZE, length))):
            length -= len(piece)
            yield piece


def _decode(content_md5: str) -> bytes:
    try:
        return base64.b64decode(content_md5, validate=True)
    except binascii.Error:
        return b""
