"""Converts marshmallow's error messages to problems that name the key, its origin and the remedy."""

import typing
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from marshmallow.exceptions import SCHEMA

from strongroom.config.problems import Problem, closest, suggestion
from strongroom.config.sources import KeyPath, RawConfiguration

_UNKNOWN = "Unknown field."
_NOT_A_TABLE = "Invalid input type."


def find_problems(
    messages: Mapping[Any, Any], options_type: type[Any], path: KeyPath, raw: RawConfiguration
) -> list[Problem]:
    """Return the problems of a schema's error messages, sorted by key."""
    found = [
        Problem(raw.origin(place), ".".join(place), message)
        for place, message in _walk(messages, options_type, path)
    ]
    return sorted(found, key=lambda problem: problem.key)


def _walk(messages: Any, annotation: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(messages, list):
        yield from ((path, message) for message in messages)
    elif SCHEMA in messages:
        for message in messages[SCHEMA]:
            yield _of_table(message, annotation, path)
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


def _of_table(message: str, annotation: Any, path: KeyPath) -> tuple[KeyPath, str]:
    """Return the path and text of a table-level error, which may begin with the name of a key."""
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
