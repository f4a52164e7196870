"""Reads the file that a request brings: as a form, or as the raw body under a name in a header."""

import base64
import binascii
import hashlib
import hmac
import re
from dataclasses import dataclass, field
from typing import Any, Final

from flask import request
from werkzeug.exceptions import ClientDisconnected
from werkzeug.http import parse_options_header

from strongroom.errors import (
    DigestMismatch,
    LengthRequired,
    MalformedRequest,
    PayloadTooLarge,
    UploadIncomplete,
    ValidationFailed,
)
from strongroom.plugin_api.storage import ByteSource
from strongroom.web.multipart import read_file_part

FILE_FIELD: Final = "file"

UPLOAD_BODY: Final[dict[str, Any]] = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "required": [FILE_FIELD],
                "properties": {FILE_FIELD: {"type": "string", "format": "binary"}},
            }
        },
        "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
    },
}
"""The OpenAPI request body of an upload."""

_UNLIMITED: Final = 1 << 62

_DIGEST = re.compile(r"(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):")


@dataclass(slots=True)
class Upload:
    """A file on its way in.

    Args:
        name: what the client calls it.
        source: its content, read once.
        size: how many bytes will come, where that is known.
    """

    name: str
    source: ByteSource
    size: int | None
    _digests: list["_Digest"] = field(default_factory=list)

    def check(self, checksum: str) -> None:
        """Hold what was received against the digest that the client announced, if it did.

        Args:
            checksum: the SHA-256 of the file, in hexadecimal digits.

        Raises:
            DigestMismatch: they differ.
        """
        for digest in self._digests:
            digest.check(checksum)


def receive_upload(max_bytes: int) -> Upload:
    """Begin to read the upload that the current request is.

    Raises:
        ValidationFailed: no file, no name, or a field that does not belong.
        LengthRequired: nothing would tell that the raw body is complete.
        PayloadTooLarge: the announced size is above ``max_bytes``.
    """
    # The limit of ordinary bodies does not apply (None would mean it); the receiver counts instead.
    request.max_content_length = _UNLIMITED
    stream = _RequestStream()
    mimetype, parameters = parse_options_header(request.headers.get("Content-Type"))
    if mimetype == "multipart/form-data":
        return _form_upload(stream, parameters.get("boundary", ""))
    return _raw_upload(stream, max_bytes)


def _form_upload(stream: "_RequestStream", boundary: str) -> Upload:
    if not boundary:
        raise MalformedRequest("The Content-Type must name the boundary of the form.")
    expected = _announced_digest()
    body = _HashedSource(stream) if expected else stream
    part = read_file_part(body, boundary.encode(), FILE_FIELD)
    digests = [_Digest(expected, body)] if expected else []
    return Upload(part.name, part.source, None, digests)


def _raw_upload(stream: "_RequestStream", max_bytes: int) -> Upload:
    expected, size = _announced_digest(), _announced_size()
    _, parameters = parse_options_header(request.headers.get("Content-Disposition"))
    name = parameters.get("filename")
    if name is None:
        message = "A raw upload is named by Content-Disposition: attachment; filename*=UTF-8''..."
        raise ValidationFailed.of_field("Content-Disposition", "required", message)
    if size is None and expected is None:
        raise LengthRequired
    if size is not None and size > max_bytes:
        raise PayloadTooLarge
    return Upload(name, stream, size, [_Digest(expected, None)] if expected else [])


class _RequestStream:
    """The body of the request; a connection that breaks is told from an end."""

    def read(self, size: int, /) -> bytes:
        try:
            return request.stream.read(size)
        except (ClientDisconnected, OSError) as error:
            raise UploadIncomplete from error


class _HashedSource:
    """A source whose bytes are hashed as they pass."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self.digest = hashlib.sha256()

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(size)
        self.digest.update(chunk)
        return chunk


@dataclass(frozen=True, slots=True)
class _Digest:
    """An announced SHA-256. By RFC 9530 that of a form covers the form; that of its file will do."""

    expected: bytes
    form: ByteSource | None

    def check(self, checksum: str) -> None:
        candidates = [bytes.fromhex(checksum)]
        if isinstance(self.form, _HashedSource):
            candidates.append(self.form.digest.digest())
        if not any(hmac.compare_digest(self.expected, candidate) for candidate in candidates):
            raise DigestMismatch


def _announced_size() -> int | None:
    """Return the body's size; without Content-Length it is empty (RFC 9112, 6.3), unless chunked."""
    if request.content_length is not None:
        return request.content_length
    protocol = request.environ.get("SERVER_PROTOCOL", "")
    is_chunked = "Transfer-Encoding" in request.headers or not protocol.startswith("HTTP/1")
    return None if is_chunked else 0


def _announced_digest() -> bytes | None:
    """Return the SHA-256 of ``Content-Digest`` (RFC 9530); other algorithms are passed over."""
    match = _DIGEST.search(request.headers.get("Content-Digest", ""))
    if match is None:
        return None
    try:
        return base64.b64decode(match[1], validate=True)
    except binascii.Error as error:
        message = "Must be like sha-256=:BASE64:"
        raise ValidationFailed.of_field("Content-Digest", "invalid", message) from error
