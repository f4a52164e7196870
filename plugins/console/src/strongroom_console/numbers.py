"""Numbers in forms."""

from typing import Final

from flask import request

from strongroom.plugin_api.page_lists import read_number

_LONGEST: Final = 19


def form_number(name: str) -> int | str | None:
    """Return the number in a field; ``None`` without one. The REST API refuses other texts."""
    text = request.form.get(name, "").strip()
    number = read_number(text, _LONGEST)
    return (text or None) if number is None else number
