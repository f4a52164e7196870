"""A JSON object as rows of a key and a value, which forms have as texts."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

Row = tuple[str, str]

MOST_ROWS: Final = 100
"""The most members that a form shows as rows; larger objects are edited as text."""

_BLANK: Final[Sequence[Row]] = (("", ""), ("", ""))


class RowFaulty(ValueError):
    """A row has no key, or the key of another. The text is the key of a text of the page.

    Args:
        place: the index of the row.
    """

    def __init__(self, text: str, place: int) -> None:
        super().__init__(text)
        self.place = place


def list_rows(value: Mapping[str, Any]) -> Sequence[Row] | None:
    """Return the rows of an object and two blank ones; ``None`` if rows cannot show it."""
    if len(value) > MOST_ROWS or any(not key.strip() or _has_lines(key) for key in value):
        return None
    return [*((key, _shown(item)) for key, item in value.items()), *_BLANK]


def parse_rows(rows: Sequence[Row], parse: Callable[[str], Any]) -> Mapping[str, Any]:
    """Return the object of rows; those without a value are left out.

    Args:
        parse: parses JSON.

    Raises:
        RowFaulty: a key is missing or repeated.
    """
    members: dict[str, Any] = {}
    for place, (key, text) in enumerate(rows):
        if not text.strip():
            continue
        if not key.strip():
            raise RowFaulty("row-without-key", place)
        if key in members:
            raise RowFaulty("key-repeated", place)
        members[key] = _parsed(text, parse)
    return members


def _shown(value: Any) -> str:
    """Return a text as itself, unless it would be read as another value."""
    if isinstance(value, str) and value.strip() and isinstance(_parsed(value, json.loads), str):
        is_quoted = value.lstrip().startswith('"')
        return json.dumps(value, ensure_ascii=False) if is_quoted or _has_lines(value) else value
    return json.dumps(value, ensure_ascii=False)


def _has_lines(value: str) -> bool:
    # The input of a form has one line.
    return "\n" in value or "\r" in value


def _parsed(text: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(text)
    except (ValueError, RecursionError):
        return text
