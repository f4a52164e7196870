"""Bounds of input that are checked before a schema loads it.

marshmallow validates the length of a list after its items, and reports each unknown member. Without
these bounds, a body of a megabyte would take seconds, and its response would be many times as large.
"""

from collections.abc import Iterable, Mapping, Set
from functools import cache
from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.foundation.errors import Detail, ValidationFailed

PUBLIC_BYTES: Final = 64 * 1024
"""The maximum size of a body of a route that needs no token."""

CALLER_BYTES: Final = 256 * 1024
"""The maximum size of a body of a route that needs a token, unless the route states another."""

LARGEST_BYTES: Final = 1024 * 1024
"""The largest maximum of a route. Uploads are streamed and have other limits."""

MAX_ITEMS: Final = 1000
"""The maximum length of a list, or of an object with free names, that states no maximum itself."""

MAX_UNKNOWN: Final = 50
"""The maximum number of unknown members in all objects of a body."""

_COMPOSITE: Final = (fields.Nested, fields.List, fields.Mapping)
_DEFAULT_LENGTH: Final = validate.Length(max=MAX_ITEMS)


def require_bounded(schema: Schema, values: Any) -> None:
    """Check the lengths of all lists, and count the unknown members, in time that depends on the bounds.

    Raises:
        ValidationFailed: a list is too long, or there are too many unknown members.
    """
    _Bounds().check_object(schema, values, "")


@cache
def longest(field: fields.Field[Any]) -> validate.Length:
    """Return the maximum length of a list or an object with free names."""
    stated = (item for item in field.validators if isinstance(item, validate.Length))
    return next((item for item in stated if (item.equal or item.max) is not None), _DEFAULT_LENGTH)


class _Bounds:
    """One body, with the number of unknown members so far."""

    def __init__(self) -> None:
        self._unknown = 0

    def check_object(self, schema: Schema, value: Any, path: str) -> None:
        if not isinstance(value, Mapping):
            return
        names, composites = _members(schema)
        self._unknown += len(value) - len(names & value.keys())
        if self._unknown > MAX_UNKNOWN:
            raise ValidationFailed.of_field(path, "unknown-field", "Too many unknown fields.")
        for name in composites.keys() & value.keys():
            self._check(composites[name], value[name], f"{path}.{name}" if path else name)

    def _check(self, field: fields.Field[Any], value: Any, path: str) -> None:
        if isinstance(field, fields.Nested):
            self._check_nested(field, value, path)
        elif isinstance(field, fields.List) and isinstance(value, list):
            _require_length(field, value, path)
            self._check_items(field.inner, enumerate(value), path)
        elif isinstance(field, fields.Mapping) and isinstance(value, Mapping):
            _require_length(field, value, path)
            self._check_items(field.value_field, value.items(), path)

    def _check_nested(self, field: fields.Nested, value: Any, path: str) -> None:
        if not field.many:
            self.check_object(field.schema, value, path)
        elif isinstance(value, list):
            _require_length(field, value, path)
            for number, item in enumerate(value):
                self.check_object(field.schema, item, f"{path}.{number}")

    def _check_items(
        self, field: fields.Field[Any] | None, items: Iterable[tuple[Any, Any]], path: str
    ) -> None:
        if isinstance(field, _COMPOSITE):
            for name, item in items:
                self._check(field, item, f"{path}.{name}")


@cache
def _members(schema: Schema) -> tuple[Set[str], Mapping[str, fields.Field[Any]]]:
    """Return the names of all fields in JSON, and by name the fields with items of their own."""
    members = {field.data_key or name: field for name, field in schema.load_fields.items()}
    composites = {name: field for name, field in members.items() if isinstance(field, _COMPOSITE)}
    return frozenset(members), composites


def _require_length(field: fields.Field[Any], value: Any, path: str) -> None:
    # Too short ones are left to the schema, which reports them with all other errors.
    length = longest(field)
    if len(value) > (length.equal or length.max or 0):
        try:
            length(value)
        except ValidationError as error:
            raise ValidationFailed(details=[Detail(path, "invalid", str(error.messages[0]))]) from None
