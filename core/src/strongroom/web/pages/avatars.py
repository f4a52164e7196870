"""Avatars of users and spaces: initials on a colour."""

import unicodedata
from typing import Final
from zlib import crc32

_COLORS: Final = 8
_TWO_HAN: Final = 28
_SEPARATOR: Final = "\u200c"
"""Keeps Arabic initials apart, which would join otherwise."""

_JOINING: Final = ("ARABIC", "SYRIAC", "MONGOLIAN", "NKO")


def avatar_color(key: str) -> int:
    """Return the number of the colour of a user or space, 1 to 8, by the id."""
    return crc32(key.encode()) % _COLORS + 1


def initials(name: str, size: int = 28) -> str:
    """Return the initials of a name: of the first and last word, or the last Chinese characters.

    Args:
        size: the pixels of the avatar; a small one has room for one Chinese character.
    """
    words = [word for word in map(_letters, _local_part(name).split()) if word]
    if not words:
        return "?"
    if _is_han(words[0][0]):
        return "".join(words)[-1 if size < _TWO_HAN else -2 :]
    firsts = [words[0][0], *[words[-1][0]] * (len(words) > 1)]
    separator = _SEPARATOR if unicodedata.name(firsts[0], "").startswith(_JOINING) else ""
    return separator.join(first.upper()[0] for first in firsts)


def initial(name: str) -> str:
    """Return the first letter of the name of a space."""
    letters = _letters(name)
    return letters[0].upper()[0] if letters else "?"


def _local_part(name: str) -> str:
    """Return a name, or the words of an address before the at sign."""
    local, at, _ = name.partition("@")
    return local.replace(".", " ").replace("_", " ") if at and local else name


def _letters(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFC", word) if letter.isalnum())


def _is_han(letter: str) -> bool:
    return unicodedata.name(letter, "").startswith("CJK UNIFIED")
