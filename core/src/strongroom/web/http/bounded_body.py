"""Request bodies that are bounded while they are read, whether their length is announced or not."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import flask
from werkzeug.formparser import FormDataParser

from strongroom.foundation.errors import MalformedRequest, PayloadTooLarge, StrongroomError
from strongroom.web.http.input_bounds import CALLER_BYTES

FORM_FIELDS: Final = 1100
"""The maximum number of fields of a URL-encoded form: 1,000 selected items, and some others."""

_FORM: Final = "application/x-www-form-urlencoded"
_FORMS: Final = (_FORM, "multipart/form-data")


class BoundedBody:
    """A request body that raises an error once it is larger than ``limit`` bytes.

    A URL-encoded form raises one for too many fields, too, because parsing a field costs more than its
    bytes.

    Args:
        body: the ``wsgi.input`` of the request.
        limit: bytes.

    Raises:
        PayloadTooLarge: from each method that reads.
        MalformedRequest: likewise, a form has more than :data:`FORM_FIELDS` fields.
    """

    def __init__(self, body: Any, limit: int, *, is_form: bool = False) -> None:
        self._body = body
        self._left = limit
        self._fields_left = FORM_FIELDS if is_form else None
        self.fault: StrongroomError | None = None
        """The error that a read has raised, which the reader may have caught."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, Any], limit: int) -> "BoundedBody":
        """Return the bounded body of a request."""
        return cls(environ["wsgi.input"], limit, is_form=media_type(environ) == _FORM)

    def read(self, size: int | None = -1, /) -> bytes:
        return self._counted(self._body.read(self._bounded(size)))

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._counted(self._body.readline(self._bounded(size)))

    def readlines(self, _hint: int | None = -1, /) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        while line := self.readline():
            yield line

    def _bounded(self, size: int | None) -> int:
        # One byte more than allowed shows that the limit is exceeded.
        most = self._left + 1
        return most if size is None or size < 0 else min(size, most)

    def _counted(self, data: bytes) -> bytes:
        self._left -= len(data)
        if self._left < 0:
            self._refuse(PayloadTooLarge())
        if self._fields_left is not None:
            self._fields_left -= data.count(b"&")
            if self._fields_left <= 0:
                self._refuse(MalformedRequest("The form has too many fields."))
        return data

    def _refuse(self, fault: StrongroomError) -> None:
        self._left, self.fault = -1, fault
        raise fault


class _FieldCounter(FormDataParser):
    def parse(self, stream: Any, mimetype: str, *arguments: Any, **options: Any) -> Any:
        # No route of a form accepts more, and the stream ends at the limit of its route.
        counted: Any = BoundedBody(stream, CALLER_BYTES, is_form=True) if mimetype == _FORM else stream
        return super().parse(counted, mimetype, *arguments, **options)


class FormRequest(flask.Request):
    """A request whose URL-encoded form has a bounded number of fields.

    Reading ``form`` raises :class:`MalformedRequest` beyond it.
    """

    form_data_parser_class = _FieldCounter


def media_type(environ: Mapping[str, Any]) -> str:
    """Return the media type of the body of a request, in lower case and without parameters."""
    text: str = environ.get("CONTENT_TYPE", "")
    return text.partition(";")[0].strip().lower()


def is_form(environ: Mapping[str, Any]) -> bool:
    """Return whether the body of a request is a form of HTML, of either encoding."""
    return media_type(environ) in _FORMS


def require_announced(environ: Mapping[str, Any], limit: int) -> None:
    """Refuse a body whose Content-Length is larger than ``limit`` bytes, before it is read.

    Raises:
        PayloadTooLarge: it is.
    """
    length = environ.get("CONTENT_LENGTH") or "0"
    if length.isdecimal() and int(length) > limit:
        raise PayloadTooLarge
