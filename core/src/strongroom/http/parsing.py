"""Parses JSON bodies, forms and queries by schemas; limits nesting, numbers and text.

Python's JSON parser raises RecursionError for deep nesting and ValueError for long numbers, and accepts
lone surrogates, which no database and no response can encode. Each would cause an internal error.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Final, Literal, NoReturn

from flask import request
from marshmallow import RAISE, Schema, ValidationError, fields, validate
from werkzeug.datastructures import MultiDict

from strongroom.clock import iso_format
from strongroom.errors import Detail, MalformedRequest, UnsupportedMediaType, ValidationFailed
from strongroom.http.request import current_environ

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


DONE = {"success": True}

_REMEMBERED_QUERY: Final = 256
"""The maximum length of a query string whose loaded values are cached."""

MAX_DEPTH: Final = 64
"""The maximum nesting of arrays and objects."""

MAX_NUMBER: Final = 64
"""The maximum length of a number in characters."""

# A string, terminated or not, or a bracket. The possessive quantifiers prevent backtracking, so that
# the scan of malicious input takes linear time.
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+\\?(?:"|\Z)|[\[{]|[\]}]', re.DOTALL)

_SUSPECT_ESCAPE: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")

_UNSTORABLE_MESSAGE: Final = "Must not contain NUL or an unpaired surrogate."

_CODES: Final[Mapping[str, tuple[str, str]]] = {
    "Missing data for required field.": ("required", "The field is required."),
    "Unknown field.": ("unknown-field", "Unknown field."),
    "Field may not be null.": ("null", "The field may not be null."),
}


class Timestamp(fields.Field[int]):
    """A point in time: milliseconds since the Unix epoch in Python, ISO 8601 in UTC in JSON."""

    _sent = fields.AwareDateTime("iso")

    def _serialize(self, value: int | None, *_: Any, **__: Any) -> str | None:
        return None if value is None else iso_format(value)

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> int:
        try:
            # Near the years 1 and 9999, the conversion to UTC may overflow.
            moment: datetime = self._sent.deserialize(value).astimezone(UTC)
        except OverflowError as error:
            raise ValidationError("Not a valid date and time.") from error
        return (moment - _EPOCH) // timedelta(milliseconds=1)


def text(maximum: int, *, minimum: int = 1, **options: Any) -> fields.String:
    """Return a string field of bounded length, so that long input cannot cause expensive work."""
    return fields.String(validate=validate.Length(min=minimum, max=maximum), **options)


class DoneSchema(Schema):
    """The response of an operation without a result."""

    success = fields.Boolean(required=True)


API_FIELDS = [(Timestamp, "string", "date-time")]
"""The OpenAPI types of custom fields: class, type, format."""


def parse_body(schema: type[Schema]) -> Any:
    """Return the JSON body of the request, loaded by a schema; an absent body counts as ``{}``.

    Raises:
        UnsupportedMediaType: the body is of another media type.
        MalformedRequest: it is not JSON.
        ValidationFailed: it does not match the schema, or has an unknown field.
    """
    if not request.is_json:
        if request.content_length or request.mimetype:
            raise UnsupportedMediaType("The body must be JSON: Content-Type: application/json.")
        return _load(schema, {})
    content = request.get_data()
    return _load(schema, parse_json(content) if content else {}, instance=_strict_instance)


def parse_form(schema: type[Schema]) -> Any:
    """Return the URL-encoded form in the body, loaded by a schema.

    Raises:
        ValidationFailed: it does not match the schema.
    """
    return _load(schema, _checked(request.form, schema), unknown=None)


def parse_query(schema: type[Schema]) -> Any:
    """Return the query parameters, loaded by a schema.

    Raises:
        ValidationFailed: they do not match the schema, or one is unknown.
    """
    query = current_environ().get("QUERY_STRING", "")
    if len(query) > _REMEMBERED_QUERY:
        return _load(schema, _checked(request.args, schema))
    return dict(_loaded_query(schema, query))


# Most queries are those of pages, and loading one takes longer than a short page.
@lru_cache(maxsize=1024)
def _loaded_query(schema: type[Schema], query: str) -> Mapping[str, Any]:
    """Return the values of the current request's query, which is ``query``."""
    loaded: Mapping[str, Any] = _load(schema, _checked(request.args, schema) if query else {})
    return loaded


@cache
def _instance(schema: type[Schema]) -> Schema:
    return schema()


@cache
def _strict_instance(schema: type[Schema]) -> Schema:
    """Return an instance for JSON, in which 0 and "no" are no booleans."""
    made = schema()
    _require_booleans(made)
    return made


def _require_booleans(schema: Schema) -> None:
    for field in schema.load_fields.values():
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested):
            _require_booleans(inner.schema)
        elif isinstance(inner, fields.Boolean):
            inner.pre_load = [*inner.pre_load, _boolean]


def _boolean(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    raise ValidationError("Must be true or false.")


def _load(
    schema: type[Schema],
    values: Any,
    unknown: Literal["raise"] | None = RAISE,
    instance: Callable[[type[Schema]], Schema] = _instance,
) -> Any:
    try:
        return instance(schema).load(values, unknown=unknown)
    except ValidationError as error:
        raise ValidationFailed(details=list(_details(error.messages, ""))) from error


def _checked(parameters: MultiDict[str, str], schema: type[Schema]) -> dict[str, Any]:
    """Return the parameters by name; a field that is a list gets all values, others the first."""
    check_parameters(parameters.items(multi=True))
    lists = _instance(schema).load_fields
    return {
        name: parameters.getlist(name) if isinstance(lists.get(name), fields.List) else parameters[name]
        for name in parameters
    }


def _details(messages: Any, path: str) -> Iterator[Detail]:
    """Yield the errors of marshmallow, which are nested like the input."""
    if isinstance(messages, Mapping):
        for key, value in messages.items():
            name = "" if key == "_schema" else str(key)
            yield from _details(value, ".".join(part for part in (path, name) if part))
    else:
        for message in messages:
            code, text = _CODES.get(message, ("invalid", message))
            yield Detail(path, code, text)


def parse_json(content: bytes) -> Any:
    """Parse a JSON text in UTF-8.

    Raises:
        MalformedRequest: it is not JSON, or its nesting or a number exceeds the limit.
        ValidationFailed: a string contains a character that cannot be stored.
    """
    try:
        text = content.decode()
        _check_depth(text)
        value = json.loads(text, parse_int=_int, parse_float=_float, parse_constant=_refuse_constant)
    except ValueError as error:
        raise MalformedRequest("The body is not valid JSON.") from error
    # Without escapes, UTF-8 cannot contain surrogates, and JSON cannot contain NUL.
    if _SUSPECT_ESCAPE.search(text):
        _check_strings(value, "")
    return value


def check_parameters(parameters: Iterable[tuple[str, str]]) -> None:
    """Raise :class:`ValidationFailed` if a parameter's text cannot be stored."""
    for name, value in parameters:
        if is_unstorable(name):
            raise MalformedRequest(_UNSTORABLE_MESSAGE)
        _check_string(value, name)


def is_unstorable(text: str) -> bool:
    """Return whether a text contains NUL, which PostgreSQL rejects, or a lone surrogate."""
    return _UNSTORABLE.search(text) is not None


def _check_depth(text: str) -> None:
    # Fast path: a text with so few brackets cannot be nested deeper.
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise MalformedRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")
        elif first != '"':
            depth -= 1


def _int(text: str) -> int:
    return int(_bounded(text))


def _float(text: str) -> float:
    return float(_bounded(text))


def _bounded(text: str) -> str:
    if len(text) > MAX_NUMBER:
        raise MalformedRequest(f"A number of the body has more than {MAX_NUMBER} characters.")
    return text


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedRequest(f"{name} is not JSON.")


def _check_strings(value: Any, path: str) -> None:
    if isinstance(value, str):
        _check_string(value, path)
    elif isinstance(value, Mapping):
        check_parameters((key, "") for key in value)
        _check_members(value.items(), path)
    elif isinstance(value, list):
        _check_members(enumerate(value), path)


def _check_members(members: Iterable[tuple[Any, Any]], path: str) -> None:
    for key, item in members:
        _check_strings(item, f"{path}.{key}" if path else str(key))


def _check_string(value: str, field: str) -> None:
    if is_unstorable(value):
        raise ValidationFailed.of_field(field, "invalid", _UNSTORABLE_MESSAGE)
