"""Pictures of clients: PNG and SVG, by their content."""

import re
from typing import Final

from strongroom.plugin_api.pictures import find_picture_type

MAX_BYTES: Final = 100_000
MAX_SIDE: Final = 2048
"""The longest side of a PNG, in pixels: a small file may have billions of them."""

TYPES: Final = {".png": "image/png", ".svg": "image/svg+xml"}
"""The media types by the suffixes of names."""

_SIDES: Final = slice(16, 24)
_HEADER: Final = b"IHDR"
_FOREIGN: Final = re.compile(rb"<!ENTITY|<script|<foreignObject|\son\w+\s*=|javascript:", re.IGNORECASE)


def find_suffix(content: bytes) -> str:
    """Return the suffix of a picture that a client may have.

    Raises:
        ValueError: it is too large, or no PNG or SVG; the text says what would be right.
    """
    if len(content) > MAX_BYTES:
        raise ValueError(f"Must have at most {MAX_BYTES // 1000} KB.")
    suffix = find_picture_type(content, TYPES)
    if suffix is None or (suffix == ".png" and content[12:16] != _HEADER):
        raise ValueError("Must be a PNG or SVG.")
    if suffix == ".png" and not all(0 < side <= MAX_SIDE for side in _sides(content)):
        raise ValueError(f"Must have at most {MAX_SIDE} pixels on each side.")
    if suffix == ".svg" and _FOREIGN.search(content):
        raise ValueError("Must have no script, event handler or entity.")
    return suffix


def _sides(png: bytes) -> tuple[int, int]:
    sides = png[_SIDES]
    return int.from_bytes(sides[:4], "big"), int.from_bytes(sides[4:], "big")
