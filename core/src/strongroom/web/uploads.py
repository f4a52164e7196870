"""Reads the file that a request brings: as a form, or as the raw body under a name in a header."""

from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, Final

from flask import request
from werkzeug.exceptions import ClientDisconnected
from werkzeug.http import parse_options_header

from strongroom.errors import (
    LengthRequired,
    MalformedRequest,
    PayloadTooLarge,
    UnsupportedMediaType,
    UploadIncomplete,
    ValidationFailed,
)
from strongroom.plugin_api.storage import ByteSource
from strongroom.web.digests import AnnouncedDigest, HashedSource, announced_digests, require_match
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
    _announced: list[AnnouncedDigest] = field(default_factory=list)
    _hashed: list[HashedSource] = field(default_factory=list)

    def check(self, checksum: str) -> None:
        """Hold what was received against the digests that the client announced, if it did.

        By RFC 9530 the digest of a form covers the form; that of its file will do.

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


def receive_upload(max_bytes: int, *, default_name: str | None = None) -> Upload:
    """Begin to read the upload that the current request is.

    Args:
        max_bytes: how large it may be.
        default_name: what a raw body without a name is called.

    Raises:
        ValidationFailed: no file, no name, or a field or header that does not belong.
        UnsupportedMediaType: the content is encoded.
        LengthRequired: nothing would tell that the raw body is complete.
        PayloadTooLarge: the announced size is above ``max_bytes``.
    """
    _refuse_parts_and_codings()
    stream = open_body()
    mimetype, parameters = parse_options_header(request.headers.get("Content-Type"))
    if mimetype == "multipart/form-data":
        return _form_upload(stream, parameters.get("boundary", ""), announced_digests())
    return _raw_upload(stream, max_bytes, default_name)


def plain_upload(content: bytes, content_type: str, disposition: str | None) -> Upload | None:
    """Return the upload that a whole body is which announces no digests, or ``None`` if it has no name.

    Args:
        content: the body.
        content_type: its type, as the request tells it.
        disposition: the Content-Disposition of the request.

    Raises:
        ValidationFailed: as :func:`receive_upload`.
        MalformedRequest: the body is no form.
        UploadIncomplete: the body ends before the form does.
    """
    mimetype, parameters = parse_options_header(content_type)
    if mimetype == "multipart/form-data":
        return _form_upload(BytesIO(content), parameters.get("boundary", ""), [])
    name = parse_options_header(disposition)[1].get("filename")
    return None if name is None else Upload(name, BytesIO(content), len(content))


def open_body() -> ByteSource:
    """Return the request's body, whatever its size: whoever reads it counts.

    What it gives raises :class:`UploadIncomplete` where the body ends before all of it has come.
    """
    # The limit of ordinary bodies does not apply (None would mean it).
    request.max_content_length = _UNLIMITED
    return _RequestStream()


def announced_size() -> int | None:
    """Return the body's size; without Content-Length it is empty (RFC 9112, 6.3), unless chunked."""
    if request.content_length is not None:
        return request.content_length
    protocol = request.environ.get("SERVER_PROTOCOL", "")
    is_chunked = "Transfer-Encoding" in request.headers or not protocol.startswith("HTTP/1")
    return None if is_chunked else 0


def _refuse_parts_and_codings() -> None:
    """Refuse what would be stored as something that it is not (RFC 9110, sections 14.5 and 8.4)."""
    if "Content-Range" in request.headers:
        message = "A part of a file cannot be uploaded so; resume by tus: see .../uploads."
        raise ValidationFailed.of_field("Content-Range", "unsupported", message)
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("The content must be sent as it is, without a Content-Encoding.")


def _form_upload(stream: ByteSource, boundary: str, announced: list[AnnouncedDigest]) -> Upload:
    if not boundary:
        raise MalformedRequest("The Content-Type must name the boundary of the form.")
    if not announced:
        part = read_file_part(stream, boundary.encode(), FILE_FIELD)
        return Upload(part.name, part.source, None)
    algorithms = {item.algorithm for item in announced}
    body = HashedSource(stream, algorithms)
    part = read_file_part(body, boundary.encode(), FILE_FIELD)
    content = HashedSource(part.source, algorithms - {"sha256"})
    return Upload(part.name, content, None, announced, [body, content])


def _raw_upload(stream: ByteSource, max_bytes: int, default_name: str | None) -> Upload:
    announced, size = announced_digests(), announced_size()
    _, parameters = parse_options_header(request.headers.get("Content-Disposition"))
    name = parameters.get("filename", default_name)
    if name is None:
        message = "A raw upload is named by Content-Disposition: attachment; filename*=UTF-8''..."
        raise ValidationFailed.of_field("Content-Disposition", "required", message)
    if size is None and not announced:
        raise LengthRequired
    if size is not None and size > max_bytes:
        raise PayloadTooLarge
    # What is stored is hashed by SHA-256 anyway.
    content = HashedSource(stream, {item.algorithm for item in announced} - {"sha256"})
    return Upload(name, content, size, announced, [content])


class _RequestStream:
    """The body of the request; a connection that breaks is told from an end."""

    def read(self, size: int, /) -> bytes:
        try:
            return request.stream.read(size)
        except (ClientDisconnected, OSError) as error:
            raise UploadIncomplete from error
