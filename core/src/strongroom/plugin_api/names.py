"""Which names people can see: one rule for files, users, tenants, groups, keys, factors and labels."""

import unicodedata
from typing import Final

NOT_ONE_LINE: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Categories of control characters, surrogates, which UTF-8 cannot encode, and line separators."""

_WITHOUT_GLYPH: Final = frozenset({"Zs", "Cf", *NOT_ONE_LINE})
"""Categories without glyphs. Unassigned characters may be emoji of a newer Unicode version."""

_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters, marks and symbols without a glyph: fillers, blank Braille, the grapheme joiner."""

_SELECTORS: Final = (("\u180b", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))
"""Ranges of variation selectors, which are marks without a glyph."""


def name_fault(name: str) -> str | None:
    """Return what is wrong with a name that others see; ``None``: nothing.

    It must have a character with a glyph, and be one line without control characters.
    """
    if not has_visible_character(name):
        return "Must have a visible character."
    # None of the refused characters is printable, and most names are.
    if not name.isprintable() and any(map(_ends_line, name)):
        return "Must not contain a control character or a line separator."
    return None


def readable_name(text: str) -> str:
    """Return a name of another system as one that others may see; empty without a visible character.

    A login must not fail because of it, so a control character becomes a blank.
    """
    line = " ".join("".join(" " if _ends_line(char) else char for char in text).split())
    return line if has_visible_character(line) else ""


def has_visible_character(text: str) -> bool:
    """Return whether a text has a character with a glyph: no separator, control or format character."""
    return any(map(_is_visible, text))


def _ends_line(char: str) -> bool:
    return unicodedata.category(char) in NOT_ONE_LINE


def _is_visible(char: str) -> bool:
    if unicodedata.category(char) in _WITHOUT_GLYPH or char in _INVISIBLE:
        return False
    for first, last in _SELECTORS:  # noqa: SIM110  hot, and a generator is another call
        if first <= char <= last:
            return False
    return True
