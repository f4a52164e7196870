"""JSON that has one meaning in every parser (I-JSON, RFC 7493).

Parsers differ in which of two members with one name counts, and in what they make of ``NaN`` or of half
a surrogate pair. A token must not mean one thing to the provider and another one here.
"""

import json
import math
from typing import Any, Final, NoReturn, TypeVar

KindT = TypeVar("KindT", dict[str, Any], list[Any])

MAX_DEPTH: Final = 16
"""Levels of objects and arrays. Claims have few."""

MAX_DIGITS: Final = 32
"""Digits of a number. Times and identifiers have fewer."""


def parse_object(text: bytes) -> dict[str, Any]:
    """Parse a JSON object in UTF-8.

    Raises:
        ValueError: it is no object, or some parsers would read another one.
    """
    return _parse(text, dict)


def parse_list(text: bytes) -> list[Any]:
    """Parse a JSON array in UTF-8; raises the errors of :func:`parse_object`."""
    return _parse(text, list)


def _parse(text: bytes, kind: type[KindT]) -> KindT:
    try:
        value = DECODER.decode(text.decode("utf-8"))
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    _check(value, MAX_DEPTH)
    if isinstance(value, kind):
        return value
    raise ValueError(f"the JSON is no {kind.__name__}")


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(members)
    if len(value) != len(members):
        raise ValueError("the JSON has two members of one name")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"the JSON has the number {constant}")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _refuse("infinity")
    return value


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise ValueError("the JSON has a number of too many digits")
    return int(text)


def _check(value: Any, depth: int) -> None:
    if isinstance(value, str):
        value.encode("utf-8")  # Raises a ValueError for half a surrogate pair.
    elif isinstance(value, dict | list):
        if not depth:
            raise ValueError("the JSON is nested too deeply")
        for item in (*value, *value.values()) if isinstance(value, dict) else value:
            _check(item, depth - 1)


DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_unique,
    parse_constant=_refuse,
    parse_float=_number,
    parse_int=_integer,
)
"""Refuses duplicate names, and numbers that other parsers refuse or read otherwise. Thread-safe."""
