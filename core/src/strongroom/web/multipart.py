"""Reads the one file of a multipart/form-data body as a stream (RFC 7578, RFC 2046 section 5.1).

Flask's own form parsing spools whole files; this reads on only as the storage asks for more.
"""

from dataclasses import dataclass
from typing import Final

from werkzeug.http import parse_options_header

from strongroom.errors import Detail, MalformedRequest, UploadIncomplete, ValidationFailed
from strongroom.plugin_api.storage import ByteSource

CHUNK_SIZE: Final = 128 * 1024
MAX_HEADER_BYTES: Final = 16 * 1024
MAX_BOUNDARY_BYTES: Final = 200
"""RFC 2046 allows 70, and some clients, by chance, send a few more."""

_LINE_END: Final = b"\r\n"
_BLANK_LINE: Final = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class FilePart:
    """The file that a form carries."""

    name: str
    source: ByteSource


def read_file_part(stream: ByteSource, boundary: bytes, field: str) -> FilePart:
    """Return the part of the form field; its source reads on in ``stream``.

    Raises:
        ValidationFailed: the form has no such file, or another field.
        MalformedRequest: the body is no form.
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
        raise ValidationFailed.of_field(field, "required", "The form must carry a file in this field.")
    name, filename = _disposition(body.take_until(_BLANK_LINE))
    if name != field:
        unknown = Detail(name, "unknown-field", "There is no field of this name here.")
        missing = Detail(field, "required", "The form must carry a file in this field, and first.")
        raise ValidationFailed(details=[unknown, missing])
    if filename is None:
        raise ValidationFailed.of_field(field, "required", "The field must carry a file with a name.")
    return FilePart(filename, _PartSource(body, _LINE_END + delimiter))


def _disposition(headers: bytes) -> tuple[str, str | None]:
    """Return the name of the field and of the file that a part's headers tell."""
    for line in headers.split(_LINE_END):
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-disposition":
            kind, options = parse_options_header(value.strip().decode("utf-8", "replace"))
            if kind == "form-data" and "name" in options:
                return options["name"], options.get("filename")
    raise MalformedRequest("Each part of the form must tell its name by Content-Disposition.")


class _Buffer:
    """What was read from the stream and not yet taken."""

    def __init__(self, stream: ByteSource) -> None:
        self._stream = stream
        self.data = b""

    def fill(self) -> None:
        """Read more.

        Raises:
            UploadIncomplete: there is no more.
        """
        chunk = self._stream.read(CHUNK_SIZE)
        if not chunk:
            raise UploadIncomplete
        self.data += chunk

    def take(self, size: int) -> bytes:
        """Remove the beginning and return it."""
        taken, self.data = self.data[:size], self.data[size:]
        return taken

    def take_until(self, mark: bytes) -> bytes:
        """Remove all up to the end of a mark, and return what came before it."""
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
        """Return whether the mark comes next, reading as far as that takes."""
        while len(self.data) < len(mark):
            self.fill()
        return self.data.startswith(mark)

    def drain(self) -> None:
        """Read the epilogue, so that the body is known to be whole."""
        self.data = b""
        while self._stream.read(CHUNK_SIZE):
            pass


class _PartSource:
    """The content of the last part, up to the delimiter that closes the form."""

    def __init__(self, body: _Buffer, delimiter: bytes) -> None:
        self._body = body
        self._delimiter = delimiter
        self._ended = False

    def read(self, _size: int, /) -> bytes:
        """Return the next piece, of about :data:`CHUNK_SIZE` bytes whatever is asked for."""
        while not self._ended:
            index = self._body.data.find(self._delimiter)
            if index >= 0:
                return self._end(index)
            # The end of what is there may be the beginning of the delimiter.
            certain = len(self._body.data) - len(self._delimiter) + 1
            if certain > 0:
                return self._body.take(certain)
            self._body.fill()
        return b""

    def _end(self, index: int) -> bytes:
        content = self._body.take(index)
        self._body.take(len(self._delimiter))
        if not self._body.starts_with(b"--"):
            raise MalformedRequest("The form must end with the file.")
        self._body.drain()
        self._ended = True
        return content
