"""Reads an uploaded file from a form, or from a raw body with its name in a header.

The digests of the content that clients announce are checked (RFC 9530).
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from flask import request
from werkzeug.exceptions import ClientDisconnected
from werkzeug.http import parse_options_header

from strongroom.foundation import errors
from strongroom.plugin_api.storage import ByteSource
from strongroom.web.http.binary_content import binary_content
from strongroom.web.http.multipart import read_file_part
from strongroom.web.http.parsing import refuse_coding
from strongroom.web.http.request import header
from strongroom.web.http.sent_names import name_in_header

HEADERS: Final = ("Content-Digest", "Repr-Digest")
"""They differ only for ranges and content codings, which uploads do not have."""

_ALGORITHMS: Final = {"sha-256": "sha256", "sha-512": "sha512"}
_MEMBER = re.compile(r"\s*([a-z*][a-z0-9_.*-]*)\s*=\s*:([A-Za-z0-9+/=]*):\s*")


FILE_FIELD: Final = "file"

UPLOAD_BODY: Final[dict[str, Any]] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": [FILE_FIELD],
                "properties": {
                    FILE_FIELD: {
                        "type": "string",
                        "format": "binary",
                        "description": "The file with its name; the only part of the form",
                    }
                },
                "additionalProperties": False,
            }
        },
        **binary_content(),
    },
}
"""The OpenAPI request body of an upload."""

_UNLIMITED: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class AnnouncedDigest:
    """The expected digest of the content. ``algorithm`` is its name in hashlib."""

    algorithm: str
    expected: bytes


class HashedSource:
    """A source that hashes its bytes with each algorithm while they are read."""

    def __init__(self, source: ByteSource, algorithms: set[str]) -> None:
        self._source = source
        self._hashes = {name: hashlib.new(name) for name in algorithms}

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(size)
        for digest in self._hashes.values():
            digest.update(chunk)
        return chunk

    def digest(self, algorithm: str) -> bytes | None:
        """Return the digest of the bytes read so far, or ``None`` for another algorithm."""
        digest = self._hashes.get(algorithm)
        return digest.digest() if digest else None


def require_match(announced: AnnouncedDigest, *actual: bytes | None) -> None:
    """Check that one of the actual digests equals the announced one.

    Raises:
        DigestMismatch: none is equal.
    """
    if not any(item and hmac.compare_digest(announced.expected, item) for item in actual):
        raise errors.DigestMismatch


def announced_digests() -> list[AnnouncedDigest]:
    """Return the digests of the request headers.

    Raises:
        ValidationFailed: a header is malformed, or has no supported algorithm. Ignoring it would make
            the client believe that the content was verified.
    """
    announced = []
    for name in HEADERS:
        if text := header(name):
            known = list(_known(name, text))
            if not known:
                message = f"Must have one of: {', '.join(_ALGORITHMS)}."
                raise errors.ValidationFailed.of_field(name, "unsupported-algorithm", message)
            announced += known
    return announced


def _known(name: str, text: str) -> Iterator[AnnouncedDigest]:
    for member in text.split(","):
        match = _MEMBER.fullmatch(member)
        try:
            expected = base64.b64decode(match[2], validate=True) if match else None
        except binascii.Error:
            expected = None
        if match is None or expected is None:
            raise errors.ValidationFailed.of_field(name, "invalid", "Must be like sha-256=:BASE64:")
        if algorithm := _ALGORITHMS.get(match[1]):
            yield AnnouncedDigest(algorithm, expected)


@dataclass(slots=True)
class UploadedFile:
    """A file that is being received.

    Args:
        name: the file name that the client sent.
        source: its content, which can be read once.
        size: its size in bytes, if known in advance.
    """

    name: str
    source: ByteSource
    size: int | None
    _announced: list[AnnouncedDigest] = field(default_factory=list)
    _hashed: list[HashedSource] = field(default_factory=list)

    def check(self, checksum: str) -> None:
        """Compare the received content with the digests that the client announced, if any.

        By RFC 9530, the digest of a form covers the whole form. A digest of the file is accepted as
        well.

        Args:
            checksum: the SHA-256 of the file, in hexadecimal digits.

        Raises:
            DigestMismatch: they differ.
        """
        for announced in self._announced:
            actual = [source.digest(announced.algorithm) for source in self._hashed]
            if announced.algorithm == "sha256":
                actual.append(bytes.fromhex(checksum))
            require_match(announced, *actual)


def receive_upload(max_bytes: int, *, default_name: str | None = None) -> UploadedFile:
    """Start reading the upload of the current request.

    Args:
        max_bytes: the maximum size.
        default_name: the name of a raw body without one.

    Raises:
        ValidationFailed: the file or its name is missing, or a field or header is not supported.
        UnsupportedCoding: the request has a Content-Encoding.
        InvalidName: the name is not in UTF-8.
        LengthRequired: a raw body has neither a length nor a digest, so truncation is undetectable.
        PayloadTooLarge: Content-Length exceeds ``max_bytes``.
    """
    _refuse_parts_and_codings()
    stream = open_body()
    mimetype, parameters = parse_options_header(request.headers.get("Content-Type"))
    if mimetype == "multipart/form-data":
        return _form_upload(stream, parameters.get("boundary", ""), announced_digests())
    return _raw_upload(stream, max_bytes, default_name)


def open_body() -> ByteSource:
    """Return the request body without a size limit; the caller must enforce its own.

    Reading raises :class:`UploadIncomplete` if the body ends prematurely.
    """
    # ``None`` would mean the application's default limit.
    request.max_content_length = _UNLIMITED
    return _RequestStream()


def announced_size() -> int | None:
    """Return the size of the body in bytes, or ``None`` if it is chunked (RFC 9112, section 6.3)."""
    if request.content_length is not None:
        return request.content_length
    protocol = request.environ.get("SERVER_PROTOCOL", "")
    is_chunked = "Transfer-Encoding" in request.headers or not protocol.startswith("HTTP/1")
    return None if is_chunked else 0


def _refuse_parts_and_codings() -> None:
    """Refuse partial and encoded content (RFC 9110, sections 14.5 and 8.4)."""
    if "Content-Range" in request.headers:
        message = "Partial uploads are not supported; use tus, see .../uploads."
        raise errors.ValidationFailed.of_field("Content-Range", "unsupported", message)
    refuse_coding()


def _form_upload(stream: ByteSource, boundary: str, announced: list[AnnouncedDigest]) -> UploadedFile:
    if not boundary:
        raise errors.MalformedRequest("The Content-Type must name the boundary of the form.")
    if not announced:
        part = read_file_part(stream, boundary.encode(), FILE_FIELD)
        return UploadedFile(part.name, part.source, None)
    # The digest may cover the form or the file, so both are hashed.
    algorithms = {item.algorithm for item in announced}
    body = HashedSource(stream, algorithms)
    part = read_file_part(body, boundary.encode(), FILE_FIELD)
    content = HashedSource(part.source, algorithms - {"sha256"})
    return UploadedFile(part.name, content, None, announced, [body, content])


def _raw_upload(stream: ByteSource, max_bytes: int, default_name: str | None) -> UploadedFile:
    announced, size = announced_digests(), announced_size()
    name = name_in_header(header("Content-Disposition") or "") or default_name
    if name is None:
        message = "A raw upload needs Content-Disposition: attachment; filename*=UTF-8''..."
        raise errors.ValidationFailed.of_field("Content-Disposition", "required", message)
    if size is None and not announced:
        raise errors.LengthRequired
    if size is not None and size > max_bytes:
        raise errors.PayloadTooLarge
    # SHA-256 is not computed here, because the storage service computes it anyway.
    content = HashedSource(stream, {item.algorithm for item in announced} - {"sha256"})
    return UploadedFile(name, content, size, announced, [content])


class _RequestStream:
    """The request body; distinguishes a broken connection from the end of the body."""

    def read(self, size: int, /) -> bytes:
        try:
            return request.stream.read(size)
        except (ClientDisconnected, OSError) as error:
            raise errors.UploadIncomplete from error
