"""Sort keys of names: the root collation of Unicode, with numbers by their value.

The order is the one of ICU's root locale with ``numeric=yes``: scripts in the order of Unicode, then
accents, then case. Its source is UTS #10 with the table of CLDR (UTS #35, part 5); ``root.txt.xz`` is
``allkeys_CLDR.txt`` of CLDR 41 without comments.

Keys are stored. So a change of the table or of their form needs a migration that computes them again,
and the tables must not come from a library that an upgrade of the system replaces.
"""

import lzma
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Final

from pyuca.collator import Collator_10_0_0

MAX_SORT_KEY: Final = 511
"""Number of characters of a key for a name of at most 255 characters."""

_MAX_WEIGHTS: Final = 255
"""Names that differ only after these weights are sorted by code point."""

_FREQUENT: Final = "abcdefghijklmnopqrstuvwxyz0 _-.,()&'=~"
"""Characters whose primary weight is one byte of a key; the digit stands for all numbers."""

_NUMBER: Final = re.compile(r"(\d+)")
_END_OF_WEIGHTS: Final = " "
_NEXT_LEVEL: Final = "!"
_FIRST: Final = ord(_NEXT_LEVEL) + 1
"""The least character of a weight, so that a name sorts before each longer one."""

_SURROGATES: Final = 0xD800
_NO_CHARACTERS: Final = 0x800
"""Number of surrogates, which are no characters of a text."""

_COMMON: Final = (0, 0x20, 0x02)
"""The least weight of each level but the first. Most characters have it, so keys end before it."""

_COMMON_SECOND: Final = chr(_FIRST + _COMMON[1])
_COMMON_THIRD: Final = chr(_FIRST + _COMMON[2])

_HAN: Final = (
    (0x4E00, 0x9FFF, 0xFB40),
    (0x3400, 0x4DBF, 0xFB80),
    (0x20000, 0x323AF, 0xFB80),
)
"""Ideographs sort by code point: the first and the last one, and the base of their weights."""

Levels = tuple[str, str, str]
"""The primary, secondary and tertiary weights of a part of a name, as text."""

Element = Sequence[int]
"""A collation element: the primary, secondary and tertiary weight."""


@lru_cache(maxsize=4096)
def sort_key(name: str) -> str:
    """Return the key of a name in NFC: keys by code point are in the order of the names.

    It ends with the name itself, which decides among names of equal weights.
    """
    return f"{_root().weights(name)[:_MAX_WEIGHTS]}{_END_OF_WEIGHTS}{name}"


@cache
def _root() -> "_RootCollator":
    # Loaded with the first name: it takes 0.1 s and 12 MB, and many commands sort nothing.
    return _RootCollator(str(Path(__file__).with_name("root.txt.xz")))


class _RootCollator(Collator_10_0_0):  # type: ignore[misc]  # without types
    def load(self, filename: str) -> None:
        with lzma.open(filename, "rt", encoding="utf-8") as lines:
            for line in lines:
                if line[0] not in "#@":
                    points, _, elements = line.rstrip().partition(";")
                    self.table.add(_numbers(points.split()), [*_elements(elements)])

    def implicit_weight(self, cp: int) -> Sequence[Element]:
        """Return the elements of a character that the table does not have."""
        for first, last, base in _HAN:
            if first <= cp <= last:
                return [[base + (cp >> 15), *_COMMON[1:]], [(cp & 0x7FFF) | 0x8000, 0, 0]]
        implicit: Sequence[Element] = super().implicit_weight(cp)
        return implicit

    def weights(self, name: str) -> str:
        """Return the weights of all levels, as text."""
        primary = secondary = tertiary = ""
        for part in _NUMBER.split(unicodedata.normalize("NFD", name)):
            for first, second, third in self._levels(part):
                primary += first
                secondary += second
                tertiary += third
        levels = (primary, secondary.rstrip(_COMMON_SECOND), tertiary.rstrip(_COMMON_THIRD))
        return _NEXT_LEVEL.join(levels).rstrip(_NEXT_LEVEL)

    def _levels(self, part: str) -> Iterable[Levels]:
        """Return the weights of pieces of a name, which is a number or has none."""
        if part.isdecimal():
            digits = "".join(str(unicodedata.decimal(digit)) for digit in part).lstrip("0") or "0"
            weight = f"{self._primary(self._of_number)}{chr(_FIRST + len(digits))}{digits}"
            return ((weight, _COMMON_SECOND, _COMMON_THIRD),)
        # No element of the table begins with several ASCII characters, so each is found by itself.
        return map(self._character, part) if part.isascii() else (self._spelled(part),)

    @cached_property
    def _character(self) -> Callable[[str], Levels]:
        return cache(self._spelled)

    def _spelled(self, text: str) -> Levels:
        """Return the weights of a text without numbers, by level."""
        primary = secondary = tertiary = ""
        for first, second, third in self.collation_elements(text):
            primary += self._primary(first)
            secondary += chr(_FIRST + second) if second else ""
            tertiary += chr(_FIRST + third) if third else ""
        return primary, secondary, tertiary

    def _primary(self, weight: int) -> str:
        """Return a primary weight as text, shorter for frequent ones."""
        if not weight:
            return ""
        place = bisect_left(self._frequent, weight)
        if place == len(self._frequent):
            return chr(weight if weight < _SURROGATES else weight + _NO_CHARACTERS)
        if self._frequent[place] == weight:
            return chr(_FIRST + 2 * place + 1)
        return f"{chr(_FIRST + 2 * place)}{chr(weight)}"

    @cached_property
    def _frequent(self) -> Sequence[int]:
        return sorted({self.collation_elements(char)[0][0] for char in _FREQUENT})

    @cached_property
    def _of_number(self) -> int:
        weight: int = self.collation_elements("0")[0][0]
        return weight


def _numbers(digits: Iterable[str]) -> list[int]:
    return [int(each, 16) for each in digits]


def _elements(text: str) -> Iterator[list[int]]:
    """Return the elements of a text such as ``[.1C47.0020.0002][*0209.0020.0002]``."""
    return (_numbers(element[1:].split(".")) for element in text[1:-1].split("]["))
