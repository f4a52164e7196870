"""Control characters, such as those that make ``photo_gpj.exe`` look like ``photo_exe.jpg``."""

import re
from typing import Final

DIRECTION_CONTROLS: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""All of them (UAX #9, Bidi_Control), as the inner part of a character class of regular expressions."""

_CONTROLS = re.compile(f"[{DIRECTION_CONTROLS}]")
# Those that change the order of other characters; marks for a single one are common in names.
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")


_TEXT_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")
"""Control characters that no text needs: all but tabs and line feeds."""


def without_direction(name: str) -> str:
    """Return the name with bidirectional control characters (UAX #9, Bidi_Control) replaced by ``_``."""
    return _CONTROLS.sub("_", name)


def with_shown_direction(text: str) -> str:
    """Return the text with its embeddings, overrides and isolates (UAX #9) as symbols: ``⟨U+202E⟩``."""
    return _REORDERING.sub(_symbol, text)


def with_shown_controls(text: str) -> str:
    """Return :func:`with_shown_direction`, with control characters as symbols, too: ``⟨U+001B⟩``.

    Line feeds and tabs stay.
    """
    return with_shown_direction(_TEXT_CONTROLS.sub(_symbol, text))


def _symbol(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"
