"""Reads the one file of a multipart/form-data body as a stream (RFC 7578).

Flask's own form parsing spools whole files; this reads on only as the storage asks for more.
"""

from dataclasses import dataclass
from typing import Final

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.sansio.multipart import Data, Epilogue, Event, Field, File, MultipartDecoder, NeedData

from strongroom.errors import MalformedRequest, UploadIncomplete, ValidationFailed
from strongroom.plugin_api.storage import ByteSource

CHUNK_SIZE: Final = 64 * 1024
MAX_PARTS: Final = 20


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
    """
    events = _Events(stream, boundary)
    while not isinstance(event := events.next(), File):
        if isinstance(event, Epilogue):
            raise ValidationFailed.of_field(
                field, "required", "The form must carry a file in this field."
            )
        if isinstance(event, Field):
            raise ValidationFailed.of_field(
                event.name, "unknown-field", "There is no field of this name here."
            )
    if event.name != field:
        raise ValidationFailed.of_field(
            event.name, "unknown-field", "There is no field of this name here."
        )
    return FilePart(event.filename, _PartSource(events))


class _Events:
    """Feeds the decoder as its events are asked for."""

    def __init__(self, stream: ByteSource, boundary: bytes) -> None:
        self._stream = stream
        self._decoder = MultipartDecoder(
            boundary, max_form_memory_size=4 * CHUNK_SIZE, max_parts=MAX_PARTS
        )
        self._exhausted = False

    def next(self) -> Event:
        try:
            while isinstance(event := self._decoder.next_event(), NeedData):
                chunk = self._stream.read(CHUNK_SIZE)
                self._exhausted = not chunk
                self._decoder.receive_data(chunk or None)
        except (ValueError, RequestEntityTooLarge) as error:
            if self._exhausted:
                raise UploadIncomplete from error
            raise MalformedRequest("The body is not valid multipart/form-data.") from error
        return event


class _PartSource:
    """The content of one part, up to the end of the form."""

    def __init__(self, events: _Events) -> None:
        self._events = events
        self._ended = False

    def read(self, _size: int, /) -> bytes:
        """Return the next piece, of at most :data:`CHUNK_SIZE` bytes whatever is asked for."""
        while not self._ended:
            event = self._events.next()
            if isinstance(event, Epilogue):
                self._ended = True
            elif not isinstance(event, Data):
                raise MalformedRequest("The form must end with the file.")
            elif event.data:
                return bytes(event.data)
        return b""
