"""Parses JSON bodies, forms and queries by schemas; limits nesting, numbers and text.

Python's JSON parser raises RecursionError for deep nesting and ValueError for long numbers, and accepts
lone surrogates, which no database and no response can encode. Each would cause an internal error.
"""

import json
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import accumulate, islice
from typing import Any, Final, Literal, NoReturn

from flask import request
from marshmallow import RAISE, Schema, ValidationError, fields, validate
from werkzeug.datastructures import MultiDict

from strongroom.foundation.errors import (
    MAX_DETAILS,
    Detail,
    MalformedRequest,
    PayloadTooLarge,
    UnsupportedCoding,
    UnsupportedMediaType,
    ValidationFailed,
)
from strongroom.foundation.ids import canonical_id
from strongroom.foundation.json_text import encode_json
from strongroom.plugin_api.names import name_fault
from strongroom.plugin_api.schemas import Timestamp
from strongroom.web.http.input_bounds import MAX_ITEMS, require_bounded
from strongroom.web.http.request import current_environ, header

DONE = {"success": True}

Unknown = Literal["raise", "exclude"]
"""What happens to unknown members, by the name that marshmallow has for it."""

_REMEMBERED_QUERY: Final = 256
"""The maximum length of a query string whose loaded values are cached."""

MAX_DEPTH: Final = 64
"""The maximum nesting of arrays and objects."""

MAX_VALUES: Final = 20_000
"""The maximum number of arrays, objects and commas of a body: more than twice a full batch's."""

MAX_NUMBER: Final = 64
"""The maximum length of a number in characters."""

# A string, terminated or not. The possessive quantifiers prevent backtracking, so that the scan of
# malicious input takes linear time.
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+\\?(?:"|\Z)', re.DOTALL)
_MAYBE_INTEGRAL: Final = re.compile(rb"[0-9](?:\.0|[eE])")

# All characters of numbers become zeros, and all others spaces, because searching for a run of one
# character takes a fiftieth of the time of a regular expression.
_NUMBERS: Final = bytes(ord("0") if byte in b"-+.0123456789eE" else ord(" ") for byte in range(256))
_LONG_NUMBER: Final = b"0" * (MAX_NUMBER + 1)

# What a bracket adds to the depth, as a signed byte; all other bytes are deleted.
_STEPS: Final = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_NO_BRACKETS: Final = bytes(set(range(256)) - set(b"[]{}"))

_MAX_EXACT: Final = 2**53
"""From here on, a fraction of JSON may not be an exact integer (RFC 8259, section 6)."""

_SUSPECT_ESCAPE: Final = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")

_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")

# The encoder escapes NUL, and backslashes, which come in pairs.
_UNSTORABLE_TEXT: Final = re.compile(r"[\ud800-\udfff]|(?<!\\)(?:\\\\)*+\\u0000")
_MAX_SEARCHED: Final = 10_000
"""How many values are searched for the name of a field."""

_UNSTORABLE_MESSAGE: Final = "Must not contain NUL or an unpaired surrogate."

_CODES: Final[Mapping[str, tuple[str, str]]] = {
    "Missing data for required field.": ("required", "The field is required."),
    "Unknown field.": ("unknown-field", "Unknown field."),
    "Field may not be null.": ("null", "The field may not be null."),
    "Only administrators may send this field.": (
        "administrators-only",
        "Only administrators may send this field.",
    ),
}


def text(maximum: int, *, minimum: int = 1, **options: Any) -> fields.String:
    """Return a string field of bounded length, so that long input cannot cause expensive work."""
    return fields.String(validate=validate.Length(min=minimum, max=maximum), **options)


def identifier(**options: Any) -> fields.String:
    """Return a field with the id of a resource, whose UUID may be in upper case."""
    return text(64, post_load=canonical_id, **options)


def name_text(maximum: int, *, minimum: int = 1, **options: Any) -> fields.String:
    """Return a string field for a name that people see; with ``minimum=0`` it may be empty."""
    length = validate.Length(min=minimum, max=maximum)
    return fields.String(validate=[length, _require_name], **options)


def _require_name(name: str) -> None:
    if name and (fault := name_fault(name)):
        raise ValidationError(fault)


class AdministratorsOnly(fields.Field[Any]):
    """A field that only administrators may send, in the schema of other callers."""

    def _deserialize(self, *_: Any, **__: Any) -> NoReturn:
        raise ValidationError("Only administrators may send this field.")


API_FIELDS = [(Timestamp, "string", "date-time")]
"""The OpenAPI types of custom fields: class, type, format."""


def parse_body(schema: type[Schema]) -> Any:
    """Return the JSON body of the request, loaded by a schema; an absent body counts as ``{}``.

    Raises:
        PayloadTooLarge: it is larger than the request's ``max_content_length``.
        UnsupportedMediaType: the body is of another media type.
        MalformedRequest: it is not JSON.
        ValidationFailed: it does not match the schema, or has an unknown field.
    """
    if not request.is_json:
        if request.content_length or request.mimetype:
            raise UnsupportedMediaType("The body must be JSON: Content-Type: application/json.")
        return _load(schema, {})
    content = _content()
    return load(schema, parse_json(content) if content else {})


def load(schema: type[Schema], values: Any) -> Any:
    """Return a JSON value of :func:`parse_json`, loaded by a schema.

    Raises:
        ValidationFailed: it does not match the schema, or has an unknown field.
    """
    return _load(schema, values, instance=_strict_instance)


def parse_values(schema: type[Schema], values: Mapping[str, Any]) -> Any:
    """Return values that a plugin passes, loaded by a schema as if they were a JSON body.

    Raises:
        ValidationFailed: they do not match the schema.
    """
    return _load(schema, parse_json(json.dumps(values).encode()), instance=_strict_instance)


def parse_object() -> dict[str, Any]:
    """Return the JSON object with free names in the body of the request, such as a merge patch.

    Raises:
        PayloadTooLarge: it is larger than the request's ``max_content_length``.
        UnsupportedMediaType: the body is of another media type.
        MalformedRequest: it is not JSON.
        ValidationFailed: it is no object.
    """
    if not request.is_json:
        raise UnsupportedMediaType("The body must be JSON: Content-Type: application/json.")
    value = parse_json(_content())
    if not isinstance(value, dict):
        raise ValidationFailed.of_field("", "invalid", "Must be a JSON object.")
    return value


def refuse_coding() -> None:
    """Refuse a body with a Content-Encoding (RFC 9110, section 8.4).

    Raises:
        UnsupportedCoding: the request has one.
    """
    if (header("Content-Encoding") or "identity").strip().lower() != "identity":
        raise UnsupportedCoding


def _content() -> bytes:
    """Return the body.

    Raises:
        PayloadTooLarge: it is larger than the request's ``max_content_length``.
        UnsupportedCoding: it has a Content-Encoding.
        UnsupportedMediaType: it is in another charset than UTF-8 (RFC 8259, section 8.1).
    """
    refuse_coding()
    if request.mimetype_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaType("The charset of the body must be UTF-8.")
    limit = request.max_content_length
    if limit is not None and request.content_length is None:
        # Werkzeug cuts a chunked body at the limit, without an error.
        request.max_content_length = limit + 1
    content = request.get_data()
    if limit is not None and len(content) > limit:
        raise PayloadTooLarge
    return content


def parse_form(schema: type[Schema]) -> Any:
    """Return the URL-encoded form in the body, loaded by a schema.

    Raises:
        PayloadTooLarge: it is larger than the request's ``max_content_length``.
        MalformedRequest: it has too many fields.
        ValidationFailed: it does not match the schema.
    """
    _content()
    return _load(schema, _checked(request.form, schema), unknown=None)


def parse_query(schema: type[Schema], unknown: Unknown = RAISE) -> Any:
    """Return the query parameters, loaded by a schema.

    Raises:
        ValidationFailed: they do not match the schema, or one is unknown and not to be excluded.
        MalformedRequest: there are too many.
    """
    query = current_environ().get("QUERY_STRING")
    if not query:
        return dict(_loaded_query(schema, "", unknown))
    _require_few_parameters(query.count("&"))
    if len(query) > _REMEMBERED_QUERY:
        return _load(schema, _checked(_arguments(), schema), unknown)
    return dict(_loaded_query(schema, query, unknown))


def _arguments() -> MultiDict[str, str]:
    try:
        return request.args
    except UnicodeDecodeError as error:
        raise MalformedRequest("The query is not UTF-8.") from error


class _NoParameters(Schema):
    """The query of a route that reads none."""


def refuse_query() -> None:
    """Refuse all query parameters by name.

    Raises:
        ValidationFailed: there is one.
        MalformedRequest: there are too many.
    """
    parse_query(_NoParameters)


# Most queries are queries of pages, and loading one takes longer than a short page.
@lru_cache(maxsize=1024)
def _loaded_query(schema: type[Schema], query: str, unknown: Unknown) -> Mapping[str, Any]:
    """Return the values of the current request's query, which is ``query``."""
    loaded: Mapping[str, Any] = _load(schema, _checked(_arguments(), schema) if query else {}, unknown)
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
    unknown: Unknown | None = RAISE,
    instance: Callable[[type[Schema]], Schema] = _instance,
) -> Any:
    loader = instance(schema)
    require_bounded(loader, values)
    try:
        return loader.load(values, unknown=unknown)
    except ValidationError as error:
        details = islice(_details(error.messages, ""), MAX_DETAILS)
        raise ValidationFailed(details=list(details)) from error


def _require_few_parameters(separators: int) -> None:
    if separators >= MAX_ITEMS:
        raise MalformedRequest("The request has too many parameters.")


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
        ValidationFailed: a string contains a character that cannot be stored, or an object has two
            members of one name.
    """
    try:
        # A parser may ignore a byte order mark (RFC 8259, section 8.1).
        text = content.decode("utf-8-sig")
        shape = _check_values(content)
        _check_depth(shape)
        _check_numbers(shape)
        # Only where it can matter: a function in Python takes longer than the rest of the parser.
        parse_float = _number if _MAYBE_INTEGRAL.search(content) else None
        value = json.loads(
            text,
            parse_float=parse_float,
            parse_constant=_refuse_constant,
            object_pairs_hook=_require_unique_names,
        )
    except ValueError as error:
        raise MalformedRequest("The body is not valid JSON.") from error
    # Without escapes, UTF-8 cannot contain surrogates, and JSON cannot contain NUL.
    if _SUSPECT_ESCAPE.search(text):
        _check_strings(value)
    return value


def _require_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object with these members; parsers disagree which of two equal names counts."""
    members = dict(pairs)
    if len(members) < len(pairs):
        repeated = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ValidationFailed.of_field(repeated, "duplicate", "The member is there twice.")
    return members


def check_parameters(parameters: Iterable[tuple[str, str]]) -> None:
    """Raise :class:`ValidationFailed` if a parameter's text cannot be stored."""
    for name, value in parameters:
        if is_unstorable(name):
            raise MalformedRequest(_UNSTORABLE_MESSAGE)
        _check_string(value, name)


def is_unstorable(text: str) -> bool:
    """Return whether a text contains NUL, which PostgreSQL rejects, or a lone surrogate."""
    return _UNSTORABLE.search(text) is not None


def _check_values(content: bytes) -> bytes:
    """Return the content, without the text of its strings if that had to be removed."""
    # A value has a character at least. Counted with the brackets in strings first, which takes a
    # hundredth of the time.
    if len(content) <= MAX_VALUES or _values(content) <= MAX_VALUES:
        return content
    # A value has at most two strings, one of them its name. There may be more strings than this count
    # has, because some quotes after a backslash end a string.
    strings = (content.count(b'"') - content.count(b'\\"')) // 2
    if strings > 2 * MAX_VALUES or _values(shape := _STRING.sub(b'""', content)) > MAX_VALUES:
        raise MalformedRequest(f"The body has more than {MAX_VALUES} values.")
    return shape


def _values(content: bytes) -> int:
    return content.count(b"[") + content.count(b"{") + content.count(b",")


def _check_depth(content: bytes) -> None:
    # Fast path: a text with so few brackets cannot be nested deeper.
    if content.count(b"[") + content.count(b"{") <= MAX_DEPTH:
        return
    steps = array("b", _STRING.sub(b"", content).translate(_STEPS, _NO_BRACKETS))
    if max(accumulate(steps)) > MAX_DEPTH:
        raise MalformedRequest(f"The body is nested deeper than {MAX_DEPTH} levels.")


def _check_numbers(content: bytes) -> None:
    if _has_long_number(content) and _has_long_number(_STRING.sub(b'""', content)):
        raise MalformedRequest(f"A number of the body has more than {MAX_NUMBER} characters.")


def _has_long_number(content: bytes) -> bool:
    return _LONG_NUMBER in content.translate(_NUMBERS)


def _number(text: str) -> int | float:
    """Return a number with a fraction or an exponent; ``2.0`` is an integer, as in JSON Schema."""
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < _MAX_EXACT else number


def _refuse_constant(name: str) -> NoReturn:
    raise MalformedRequest(f"{name} is not JSON.")


def _check_strings(value: Any) -> None:
    if _UNSTORABLE_TEXT.search(encode_json(value)):
        for path, item in islice(_items(value, ""), _MAX_SEARCHED):
            if isinstance(item, str):
                _check_string(item, path)
        # In a name, or too far behind.
        raise MalformedRequest(_UNSTORABLE_MESSAGE)


def _items(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield all values in a JSON value, with their paths."""
    yield path, value
    for key, item in _members(value):
        yield from _items(item, f"{path}.{key}" if path else str(key))


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


def _check_string(value: str, field: str) -> None:
    if is_unstorable(value):
        raise ValidationFailed.of_field(field, "invalid", _UNSTORABLE_MESSAGE)
