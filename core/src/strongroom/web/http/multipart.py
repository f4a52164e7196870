"""Streams the file of a multipart/form-data body (RFC 7578, RFC 2046 section 5.1).

Flask's form parser spools whole files to disk; this one reads only as fast as the storage consumes.
"""

from dataclasses import dataclass
from typing import Final

from werkzeug.http import parse_options_header

from strongroom.foundation.errors import (
    Detail,
    InvalidName,
    MalformedRequest,
    UploadIncomplete,
    ValidationFailed,
)
from strongroom.plugin_api.storage import ByteSource
from strongroom.web.http.sent_names import name_in_form

CHUNK_SIZE: Final = 128 * 1024
MAX_HEADER_BYTES: Final = 16 * 1024
MAX_BOUNDARY_BYTES: Final = 200
"""RFC 2046 allows 70, but some clients send slightly longer boundaries."""

_LINE_END: Final = b"\r\n"
_BLANK_LINE: Final = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class FilePart:
    """The file part of a form."""

    name: str
    source: ByteSource


def read_file_part(stream: ByteSource, boundary: bytes, field: str) -> FilePart:
    """Return the file part of a form field; its source reads from ``stream``.

    Raises:
        ValidationFailed: the form has no file in this field, or has another field.
        MalformedRequest: the body is not a valid form.
        InvalidName: the name of the file is not in UTF-8.
        UploadIncomplete: the body ends before the form does.
    """
    if not 1 <= len(boundary) <= MAX_BOUNDARY_BYTES:
        raise MalformedRequest(
            f"The boundary of the form must have 1 to {MAX_BOUNDARY_BYTES} characters."
        )
    body = _Buffer(stream)
    delimiter = b"--" + boundary
    body.skip_past(delimiter)
    if body.starts_with(b"--"):
        raise ValidationFailed.of_field(field, "required", "The form must have a file in this field.")
    name, filename = _disposition(body.take_until(_BLANK_LINE))
    if name != field:
        unknown = Detail(name, "unknown-field", "Unknown field.")
        missing = Detail(field, "required", "The file in this field must be the first part.")
        raise ValidationFailed(details=[unknown, missing])
    if filename is None:
        raise ValidationFailed.of_field(field, "required", "The field must have a file with a name.")
    return FilePart(filename, _PartSource(body, _LINE_END + delimiter))


def _disposition(headers: bytes) -> tuple[str, str | None]:
    """Return the field name and the file name from the headers of a part."""
    for line in headers.split(_LINE_END):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-disposition":
            disposition = _text(value.strip())
            kind, options = parse_options_header(disposition)
            if kind == "form-data" and "name" in options:
                return options["name"], name_in_form(disposition)
    raise MalformedRequest("Each part of the form must have a name in Content-Disposition.")


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise InvalidName from error


class _Buffer:
    """A buffer of bytes that were read from the stream but not consumed yet."""

    def __init__(self, stream: ByteSource) -> None:
        self._stream = stream
        self.data = b""

    def fill(self) -> None:
        """Read the next chunk."""
        chunk = self._stream.read(CHUNK_SIZE)
        if not chunk:
            raise UploadIncomplete
        self.data += chunk

    def take(self, size: int) -> bytes:
        """Remove the first ``size`` bytes and return them."""
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def take_until(self, mark: bytes) -> bytes:
        """Remove everything up to and including a mark, and return the bytes before the mark."""
        while (index := self.data.find(mark)) < 0:
            if len(self.data) > MAX_HEADER_BYTES:
                raise MalformedRequest("The body is not valid multipart/form-data.")
            self.fill()
        return self.take(index + len(mark))[:index]

    def skip_past(self, delimiter: bytes) -> None:
        """Remove the preamble and the first delimiter."""
        preamble = self.take_until(delimiter)
        if preamble and not preamble.endswith(_LINE_END):
            raise MalformedRequest("The body is not valid multipart/form-data.")

    def starts_with(self, mark: bytes) -> bool:
        """Return whether the next bytes are the mark; reads more if necessary."""
        while len(self.data) < len(mark):
            self.fill()
        return self.data.startswith(mark)

    def drain(self) -> None:
        """Read the epilogue to the end, which verifies that the body is complete."""
        self.data = b""
        while self._stream.read(CHUNK_SIZE):
            pass


class _PartSource:
    """The content of the file part, which ends at the closing delimiter of the form."""

    def __init__(self, body: _Buffer, delimiter: bytes) -> None:
        self._body = body
        self._delimiter = delimiter
        self._ended = False

    def read(self, _size: int, /) -> bytes:
        """Return the next piece, of about :data:`CHUNK_SIZE` bytes; ``_size`` is ignored."""
        while not self._ended:
            index = self._body.data.find(self._delimiter)
            if index >= 0:
                return self._end(index)
            # The last bytes of the buffer may be the beginning of the delimiter.
            certain = len(self._body.data) - len(self._delimiter) + 1
            if certain > 0:
                return self._body.take(certain)
            self._body.fill()
        return b""

    def _end(self, index: int) -> bytes:
        content = self._body.take(index)
        self._body.take(len(self._delimiter))
        # "--" after the delimiter closes the form; otherwise another part follows.
        if not self._body.starts_with(b"--"):
            raise MalformedRequest("The form must end with the file.")
        self._body.drain()
        self._ended = True
        return content
