"""Which names people can see: one rule for files, folders, users, tenants, groups, keys and labels."""

import unicodedata
from typing import Final

LINE_SEPARATORS: Final = frozenset({"Zl", "Zp"})
"""Categories of characters that end a line, which no name may contain."""

_WITHOUT_GLYPH: Final = frozenset({"Zs", "Cc", "Cf", "Cs", *LINE_SEPARATORS})
"""Categories without glyphs. Unassigned characters may be emoji of a newer Unicode version."""

_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and symbols without a glyph: fillers, blank Braille, the grapheme joiner."""

_SELECTORS: Final = (("\u180b", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
"""Ranges of variation selectors, which are marks without a glyph."""


def has_visible_character(text: str) -> bool:
    """Return whether a text has a character with a glyph: no separator, control or format character."""
    return any(map(_is_visible, text))


def _is_visible(char: str) -> bool:
    if unicodedata.category(char) in _WITHOUT_GLYPH or char in _INVISIBLE:
        return False
    return not any(first <= char <= last for first, last in _SELECTORS)
