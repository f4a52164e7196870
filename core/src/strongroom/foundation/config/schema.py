"""Generates marshmallow schemas from option dataclasses, and problems from their messages."""

import json
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any, Final

from marshmallow import RAISE, Schema, ValidationError, post_load, validate
from marshmallow import fields as ma
from marshmallow.exceptions import SCHEMA

from strongroom.foundation.config.rates import Rate
from strongroom.foundation.config.sources import (
    ENVIRONMENT,
    EnvironmentText,
    KeyPath,
    Problem,
    RawConfiguration,
    closest,
    suggestion,
)

Annotation = Any
"""A type annotation; Python has no narrower type for values such as ``tuple[str, ...]``."""

_SCHEMAS: Final[dict[Any, Schema]] = {}
"""The schemas by their dataclass: creating one takes longer than loading a configuration with it."""


class PathField(ma.String):
    """A path; ``~`` is expanded."""

    def _deserialize(self, *args: Any, **kwargs: Any) -> Path:  # type: ignore[override]
        return Path(super()._deserialize(*args, **kwargs)).expanduser()


class RateField(ma.String):
    """A rate such as ``5/hour``."""

    def _deserialize(self, *args: Any, **kwargs: Any) -> Rate:  # type: ignore[override]
        try:
            return Rate.parse(super()._deserialize(*args, **kwargs))
        except ValueError as error:
            raise ValidationError(str(error)) from error


class TupleField(ma.List[Any]):
    """A list, loaded as a tuple."""

    def _deserialize(self, *args: Any, **kwargs: Any) -> tuple[Any, ...]:  # type: ignore[override]
        return tuple(super()._deserialize(*args, **kwargs))


class TableField(ma.Nested):
    """A table; the keys that it does not set have the values of the field's default."""

    def __init__(self, options_type: Any, default: "Callable[[], Any]", options: dict[str, Any]) -> None:
        super().__init__(schema_for(options_type), **_messages(options, "a table"))
        self._defaults = _own_defaults(default(), options_type())

    def _deserialize(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if self._defaults and isinstance(value, Mapping):
            value = {**self._defaults, **value}
        return super()._deserialize(value, *args, **kwargs)


def _own_defaults(default: Any, common: Any) -> dict[str, Any]:
    values = {item.name: getattr(default, item.name) for item in fields(default)}
    return {key: value for key, value in values.items() if value != getattr(common, key)}


def schema_for(options_type: type[Any]) -> Schema:
    """Return a schema that loads a mapping into the dataclass, and rejects unknown keys."""
    if options_type not in _SCHEMAS:
        _SCHEMAS[options_type] = _create_schema(options_type)
    return _SCHEMAS[options_type]


def _create_schema(options_type: type[Any]) -> Schema:
    hints = typing.get_type_hints(options_type)
    members: dict[str, Any] = {
        item.name: _field(item, hints[item.name]) for item in fields(options_type)
    }

    def build(_schema: Schema, data: dict[str, Any], **_: Any) -> Any:
        try:
            # ``__post_init__`` validates what the types cannot express.
            return options_type(**data)
        except ValueError as error:
            raise ValidationError(str(error)) from error

    members["build"] = post_load(build)
    schema: type[Schema] = type(f"{options_type.__name__}Schema", (Schema,), members)
    return schema(unknown=RAISE)


# Columns of the database take no larger whole number, and their sums with sizes of files must fit, too.
_MAX_WHOLE_NUMBER: Final = 2**62


def _field(item: "Field[Any]", annotation: Annotation) -> ma.Field[Any]:
    low, high = item.metadata["range"]
    validators: list[Any] = []
    if choices := item.metadata["choices"]:
        validators.append(validate.OneOf(choices, error=f"must be one of: {', '.join(choices)}"))
    if low is not None or high is not None:
        validators.append(validate.Range(low, high, error=_range_message(low, high)))
    if high is None and annotation is int:
        refused = f"must be at most {_MAX_WHOLE_NUMBER}"
        validators.append(validate.Range(max=_MAX_WHOLE_NUMBER, error=refused))
    required = item.default is MISSING and item.default_factory is MISSING
    options: dict[str, Any] = {"required": required, "validate": validators}
    if required:
        options["error_messages"] = {"required": _required_message(item)}
    if is_dataclass(annotation) and item.default_factory is not MISSING:
        return TableField(annotation, item.default_factory, options)
    return _typed_field(annotation, options)


def _required_message(item: "Field[Any]") -> str:
    """Return what a key must have, from the first sentence of its help."""
    sentence = str(item.metadata["help"]).partition(". ")[0].rstrip(".")
    return f"{_REQUIRED}: {sentence[:1].lower()}{sentence[1:]}" if sentence else _REQUIRED


def _range_message(low: float | None, high: float | None) -> str:
    if high is None:
        return f"must be at least {low}"
    return f"must be at most {high}" if low is None else f"must be from {low} to {high}"


def _typed_field(annotation: Annotation, options: dict[str, Any]) -> ma.Field[Any]:
    if isinstance(annotation, types.UnionType):
        (annotation,) = (part for part in annotation.__args__ if part is not types.NoneType)
        options["allow_none"] = True
    origin: Any = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is tuple:
        return TupleField(_typed_field(arguments[0], {}), **_messages(options, "a list"))
    if origin is dict:
        values = _typed_field(arguments[1], {})
        return ma.Dict(keys=ma.String(), values=values, **_messages(options, "a table"))
    if annotation is Any:
        return ma.Raw(allow_none=True)
    if is_dataclass(annotation) and annotation is not Rate:
        return ma.Nested(
            schema_for(typing.cast("type[Any]", annotation)), **_messages(options, "a table")
        )
    return _scalar_field(annotation, options)


def _scalar_field(annotation: Annotation, options: dict[str, Any]) -> ma.Field[Any]:
    if annotation is bool:
        # By default, marshmallow also accepts 1, "on" and "yes".
        return ma.Boolean(truthy={True}, falsy={False}, **_messages(options, "true or false"))
    if annotation is int:
        return ma.Integer(strict=True, **_messages(options, "a whole number"))
    if annotation is float:
        return ma.Float(**_messages(options, "a number"))
    kinds: dict[Annotation, type[ma.String]] = {str: ma.String, Path: PathField, Rate: RateField}
    return kinds[annotation](**_messages(options, "a string"))


def _messages(options: dict[str, Any], expected: str) -> dict[str, Any]:
    refused = f"must be {expected}"
    messages = {"invalid": refused, "type": refused, "null": refused, "invalid_utf8": refused}
    return {**options, "error_messages": {**messages, **options.get("error_messages", {})}}


OPTION_TYPES: Final = (
    "str, int, float, bool, pathlib.Path, tuple[str, ...], dict[str, str], dict[str, Any], a dataclass "
    "of option() fields, or one of them | None"
)
"""The types that an option can have, for messages and the reference."""


def option_fault(options_type: type[Any]) -> str | None:
    """Return why a field cannot be a key of the configuration, beginning with its name, or ``None``."""
    try:
        hints = typing.get_type_hints(options_type)
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())}"
    for item in fields(options_type):
        annotation = hints[item.name]
        try:
            _field(item, annotation)
        except Exception:
            return f"{item.name} has the type {_spelled(annotation)}; use {OPTION_TYPES}"
        if item.default is not MISSING and not _fits(item.default, annotation):
            return f"{item.name} has the default {item.default!r}, which is no {_spelled(annotation)}"
    return None


def _spelled(annotation: Annotation) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _fits(value: Any, annotation: Annotation) -> bool:
    """Return whether a default has the annotated type."""
    if isinstance(annotation, types.UnionType):
        return any(_fits(value, part) for part in annotation.__args__)
    origin: Any = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, arguments[0]) for item in value)
    if origin is dict:
        return isinstance(value, Mapping) and all(_fits(item, arguments[1]) for item in value.values())
    if annotation is Any:
        return True
    if annotation is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    # True is an int.
    return isinstance(value, annotation) and (annotation is bool or not isinstance(value, bool))


def interpret(value: Any, annotation: Annotation) -> Any:
    """Convert text from the environment to the annotated types, recursively."""
    if isinstance(annotation, types.UnionType):
        (annotation,) = (part for part in annotation.__args__ if part is not types.NoneType)
    if isinstance(value, EnvironmentText):
        plain_text = annotation in (str, Path, Rate)
        return str(value) if plain_text else value.parsed(as_list=_is_generic(annotation, tuple))
    if isinstance(value, dict) and is_dataclass(annotation):
        hints = typing.get_type_hints(annotation)
        return {key: interpret(item, hints.get(key)) for key, item in value.items()}
    if isinstance(value, dict) and (annotation is Any or _is_generic(annotation, dict)):
        inner = typing.get_args(annotation)[1] if annotation is not Any else Any
        return {key: interpret(item, inner) for key, item in value.items()}
    return value


def _is_generic(annotation: Annotation, origin: type[Any]) -> bool:
    generic: Any = typing.get_origin(annotation)
    return generic is origin


_UNKNOWN = "Unknown field."
_NOT_A_TABLE = "Invalid input type."
_REQUIRED: Final = "is required"
_NO_LIST: Final = "must be a list"
_NO_WHOLE_NUMBER: Final = "must be a whole number"
_UNITS: Final = ("bytes", "seconds", "hours", "days")
"""The units that the names of keys end with."""


def find_problems(
    messages: Mapping[Any, Any], options_type: type[Any], path: KeyPath, raw: RawConfiguration
) -> list[Problem]:
    """Return the problems of a schema's error messages, sorted by key."""
    problems = (
        Problem(raw.origin(place), ".".join(place), _with_remedy(message, place, raw))
        for place, message in _walk(messages, options_type, path)
    )
    return sorted(problems, key=lambda problem: problem.key)


def _with_remedy(message: str, path: KeyPath, raw: RawConfiguration) -> str:
    """Add what would be right, where that depends on the value or on its origin."""
    value, origin = raw.get(path), raw.origin(path)
    if message == _NO_LIST and isinstance(value, str):
        return f"{message}, such as {json.dumps([value], ensure_ascii=False)}"
    if message == _NO_WHOLE_NUMBER:
        return _whole_number_wanted(value, path[-1])
    if message.startswith(_REQUIRED) and origin.startswith(ENVIRONMENT):
        return f"{message}; set it, or unset {origin.removeprefix(ENVIRONMENT)}"
    return message


def _whole_number_wanted(value: Any, key: str) -> str:
    """Return what a key must be that is a text, such as ``"8001"`` or ``"5 GB"``."""
    unit = next((f" of {name}" for name in _UNITS if key.endswith(f"_{name}")), "")
    if not isinstance(value, str) or not value[:1].isdecimal():
        return f"{_NO_WHOLE_NUMBER}{unit}"
    remedy = f"without quotes: {value}" if value.isdecimal() else "without quotes and unit"
    return f"{_NO_WHOLE_NUMBER}{unit}, {remedy}"


def _walk(messages: Any, annotation: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(messages, list):
        yield from ((path, message) for message in messages)
    elif SCHEMA in messages:
        for message in messages[SCHEMA]:
            yield split_key(message, annotation, path)
    elif is_dataclass(annotation):
        yield from _walk_dataclass(messages, annotation, path)
    elif typing.get_origin(annotation) is dict:
        for key, faults in messages.items():
            yield from _walk_entry(faults, annotation, (*path, str(key)))
    else:
        for index, faults in messages.items():
            yield from (
                (path, f"entry {index + 1} {message}") for _, message in _walk(faults, None, path)
            )


def split_key(message: str, annotation: Any, path: KeyPath) -> tuple[KeyPath, str]:
    """Return the path and text of an error of a table, which may begin with the name of a key."""
    if message == _NOT_A_TABLE:
        return path, "must be a table"
    key, _, text = message.partition(": ")
    if key in {item.name for item in fields(annotation)}:
        return (*path, key), text
    return path, message


def _walk_entry(
    faults: Mapping[str, Any], annotation: Any, path: KeyPath
) -> Iterator[tuple[KeyPath, str]]:
    for fault in faults.values():
        yield from _walk(fault, typing.get_args(annotation)[1], path)


def _walk_dataclass(
    messages: Mapping[str, Any], annotation: Any, path: KeyPath
) -> Iterator[tuple[KeyPath, str]]:
    hints = typing.get_type_hints(annotation)
    known = [item.name for item in fields(annotation)]
    meant = {closest(str(key), known) for key, faults in messages.items() if faults == [_UNKNOWN]}
    for key, faults in messages.items():
        if key in meant:
            # Reported as missing only because it is misspelt; the unknown key is reported instead.
            continue
        if faults == [_UNKNOWN]:
            yield (*path, str(key)), f"unknown key; {suggestion(str(key), known)}"
        else:
            yield from _walk(faults, hints.get(key), (*path, str(key)))
