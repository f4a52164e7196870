"""What several forms of a tenant share."""

from typing import Final

from flask import request

from strongroom_console.numbers import number_in

OVERLAPS: Final = {0: "overlap-none", 3600: "hour-1", 86400: "day-1", 604800: "days-7"}
"""The keys of the times for which a replaced secret stays valid, by their seconds."""

_LONGEST_NUMBER: Final = 18


def number_of(name: str) -> int | str | None:
    """Return the number in a field; ``None`` without one. The REST API refuses other texts."""
    text = request.form.get(name, "").strip()
    number = number_in(text, _LONGEST_NUMBER)
    return (text or None) if number is None else number
