"""Responses of operations: their type, the JSON encoder, and serializers compiled from schemas."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from http import HTTPStatus
from typing import Any, Final

import flask
from flask.json.provider import DefaultJSONProvider
from marshmallow import Schema, fields, missing
from werkzeug.datastructures import Headers

from strongroom.clock import iso_format
from strongroom.plugin_api.schemas import Timestamp

JSON_TYPE: Final = ("Content-Type", "application/json")

Json = dict[str, Any]
HeaderItems = Mapping[str, str] | Iterable[tuple[str, str]]
Convert = Callable[[Any], Any]
"""Converts a Python value to a JSON value."""

_OK: Final = HTTPStatus.OK.value
_STATUS_LINES: Final = {status.value: f"{status.value} {status.phrase.upper()}" for status in HTTPStatus}


class JsonProvider(DefaultJSONProvider):
    """Applies the options of ``encode_json`` to Flask's ``jsonify``, which plugins use."""

    ensure_ascii = False
    sort_keys = False


class Response(flask.Response):
    """A response whose status, headers and content are final.

    The base class copies and inspects all of them when it is created and again when it is sent, which
    costs more than a short query. A request hook may still change anything; the base class then sends
    the response.

    Attributes:
        may_be_coded: whether the content has no secret, so that it may be compressed.

    Args:
        body: the complete content, or an iterable of pieces; its ``close`` is called after the response.
        headers: the headers; Content-Length is added for complete content.
    """

    may_be_coded = False

    def __init__(
        self, body: bytes | Iterable[bytes] = b"", status: int = 200, headers: HeaderItems = ()
    ) -> None:
        # Hot: mostly a tuple, see ADR 0076.
        self._items = [*(headers if type(headers) is tuple else _items(headers))]
        self._status, self._status_code = _STATUS_LINES.get(status, f"{status} UNKNOWN"), status
        self._on_close = []
        self.direct_passthrough = False
        if isinstance(body, bytes):
            self._items.append(("Content-Length", str(len(body))))
            body = [body]
        self.response = body
        self._final_body: object = body

    @property
    def headers(self) -> Headers:
        """The headers. A hook may change or replace them."""
        headers = Headers()
        # Shares the list, so that changes affect the response; no public constructor does.
        headers._list = self._items  # noqa: SLF001
        return headers

    @headers.setter
    def headers(self, headers: Headers) -> None:
        self._items = headers._list  # noqa: SLF001
        # The base class sends the response, and adds Content-Length.
        self._final_body = None

    def add_headers(
        self, headers: Iterable[tuple[str, str]], defaults: Iterable[tuple[str, str]] = ()
    ) -> None:
        """Add headers in place of headers of the same names, and defaults for absent ones."""
        items, present = self._items, dict(self._items)
        for header in headers:
            if header[0] in present:
                # In place, because the object of the property `headers` shares the list.
                items[:] = [item for item in items if item[0] != header[0]]
            items.append(header)
        for default in defaults:
            # Names have any case in the responses of mounted applications and in hooks of plugins.
            if default[0] not in present and default[0].lower() not in map(str.lower, present):
                items.append(default)

    def plain_json(self, excluded: frozenset[str]) -> bytes | None:
        """Return the complete content of a response with the status 200 and JSON.

        Args:
            excluded: with one of these headers, the result is ``None``.
        """
        if self._status_code != _OK or type(self.response) is not list:
            return None
        # Hot: without the property `headers` (ADR 0076).
        headers = dict(self._items)
        is_json = headers.get("Content-Type", "").startswith(JSON_TYPE[1])
        return b"".join(self.response) if is_json and excluded.isdisjoint(headers) else None

    def append_header(self, header: tuple[str, str]) -> None:
        """Add a header next to others of the same name."""
        self._items.append(header)

    def replace_content(self, content: bytes, headers: Iterable[tuple[str, str]]) -> None:
        """Replace complete content, and add headers in place of former ones of the same names."""
        self.add_headers([*headers, ("Content-Length", str(len(content)))])
        self.response = self._final_body = [content]

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Send the response (PEP 3333)."""
        # A hook may have replaced the content, or added a function to call at the end.
        is_final = self.response is self._final_body and not self._on_close
        if not is_final or environ["REQUEST_METHOD"] == "HEAD" or self._status_code in (204, 304):
            return super().__call__(environ, start_response)
        start_response(self._status, [*self._items])
        return self.response  # type: ignore[return-value]  # text only if a hook has set it


def json_response(text: str, status: int = 200, headers: HeaderItems = ()) -> Response:
    """Return the response with a JSON text as its content."""
    items = headers if type(headers) is tuple else _items(headers)
    return Response(f"{text}\n".encode(), status, (JSON_TYPE, *items))


def _items(headers: HeaderItems) -> Iterable[tuple[str, str]]:
    # Tested first, because isinstance of an abstract class takes long.
    if type(headers) is tuple or type(headers) is list:
        return headers
    return headers.items() if isinstance(headers, Mapping) else headers


def no_content(headers: HeaderItems = ()) -> Response:
    """Return a response without content (RFC 9110, section 15.3.5)."""
    return Response((), HTTPStatus.NO_CONTENT, headers)


def not_modified(headers: HeaderItems) -> Response:
    """Return the response to a conditional read whose client has the current version."""
    return Response((), HTTPStatus.NOT_MODIFIED, headers)


@cache
def serializer(schema: type[Schema]) -> Convert:
    """Return a function that does the same as ``schema().dump``, compiled from the schema's fields.

    ``dump`` resolves the attribute and the type of each field for each record, which takes about ten
    times as long. It is used for schemas with hooks or other field types, which plugins may have.
    """
    return _compiled(schema())


def _compiled(instance: Schema) -> Convert:
    # These hooks may change the whole record, so the fields alone do not determine the output.
    hooks = instance._hooks  # noqa: SLF001  marshmallow has no public access to them
    if hooks["pre_dump"] or hooks["post_dump"]:
        return instance.dump
    try:
        members = [
            (field.data_key or name, field.attribute or name, field.dump_default, _converter(field))
            for name, field in instance.dump_fields.items()
        ]
    except NotImplementedError:
        return instance.dump

    def dump(record: Any) -> Json:
        get = record.get if isinstance(record, dict) else partial(getattr, record)
        made: Json = {}
        for key, name, default, convert in members:
            value = get(name, default)
            if value is not missing:
                made[key] = None if value is None else convert(value)
        return made

    return dump


def _converter(field: Any) -> Convert:
    """Return the conversion of a field's value, which is never ``None``."""
    # By the exact type, because a subclass may convert in another way.
    convert_by = _CONVERTERS.get(type(field))
    if convert_by is None:
        raise NotImplementedError
    return convert_by(field)


def _nested(field: Any) -> Convert:
    # The instance, because it may have some of the fields only; on first use, because a schema may
    # contain itself.
    compiled = cache(lambda: _compiled(field.schema))

    def dump(record: Any) -> Any:
        return compiled()(record)

    many = field.many or field.schema.many
    return (lambda records: [dump(record) for record in records]) if many else dump


def _list(field: Any) -> Convert:
    convert = _converter(field.inner)
    return lambda values: [None if value is None else convert(value) for value in values]


def _dict(field: Any) -> Convert:
    convert = _converter(field.value_field) if field.value_field else _unchanged
    return lambda values: {
        key: None if value is None else convert(value) for key, value in values.items()
    }


def _unchanged(value: Any) -> Any:
    return value


_CONVERTERS: Final[Mapping[type[Any], Callable[[Any], Convert]]] = {
    Timestamp: lambda _: iso_format,
    fields.String: lambda _: str,
    fields.Url: lambda _: str,
    fields.Email: lambda _: str,
    fields.Integer: lambda _: _unchanged,
    fields.Float: lambda _: _unchanged,
    fields.Boolean: lambda _: _unchanged,
    fields.Raw: lambda _: _unchanged,
    fields.Nested: _nested,
    fields.List: _list,
    fields.Dict: _dict,
}
