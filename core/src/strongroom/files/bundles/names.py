"""Names of archive entries that are safe to unpack on any operating system."""

import re
import unicodedata
from typing import Final

from strongroom.text_direction import without_direction

MAX_COMPONENT_BYTES: Final = 255
"""Maximum length of a file name on common file systems, in bytes of UTF-8."""

# Windows reserves device names with any extension; it treats superscript digits as digits.
_DEVICE = re.compile(r"(?i:CON|PRN|AUX|NUL|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)")
_SAFE = re.compile(rf"(?!{_DEVICE.pattern})[\w()\[\]{{}} ,;=+@#$%&'!.-]{{0,60}}[\w)\]}}-]")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|]')


def safe_name(name: str) -> str:
    """Return the name with characters replaced that Windows or a shell would misinterpret.

    These are separators, drive letters and streams, wildcards, device names, trailing dots and spaces,
    which Windows drops, and bidirectional control characters, which can disguise the extension.
    """
    # Most names match this pattern and need no further work.
    if _SAFE.fullmatch(name):
        return name
    cleaned = _FORBIDDEN.sub("_", without_direction(name))
    trimmed = cleaned.rstrip(". ")
    cleaned = trimmed + "_" * (len(cleaned) - len(trimmed))
    return _fitted(*_split(f"_{cleaned}" if _DEVICE.match(cleaned) else cleaned))


def _split(name: str) -> tuple[str, str]:
    """Return the stem of a name, and its extension with the dot."""
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension.encode()) > MAX_COMPONENT_BYTES // 4:
        return name, ""
    return stem, dot + extension


def _fitted(stem: str, ending: str) -> str:
    """Return stem and ending joined, the stem truncated to fit ``MAX_COMPONENT_BYTES``."""
    room = MAX_COMPONENT_BYTES - len(ending.encode())
    encoded = stem.encode()
    if len(encoded) > room:
        stem = encoded[:room].decode(errors="ignore").rstrip(". ")
    return stem + ending


class UniqueNames:
    """Assigns names in one folder that differ even without regard to case and Unicode normalization."""

    def __init__(self) -> None:
        # Hashes instead of names save memory in very large folders; a collision only adds a number.
        self._taken: set[int] = set()
        self._last: dict[int, int] = {}

    def add(self, name: str) -> str:
        """Return a safe name for an entry, with a number if it is taken."""
        candidate = safe_name(name)
        key = _key(candidate)
        if key in self._taken:
            candidate, key = self._numbered(candidate)
        self._taken.add(key)
        return candidate

    def _numbered(self, name: str) -> tuple[str, int]:
        """Return the first free name with a number, and its key.

        The last used number is stored per truncated stem, because names that differ only after the
        truncation share their numbers. More digits truncate more, so each number of digits has its own
        entry. This keeps many equal names from being searched in quadratic time.
        """
        stem, extension = _split(name)
        digits = 0
        while True:
            first = 10**digits
            digits += 1
            shape = _key(_fitted(stem, f" ({first}){extension}"))
            for number in range(self._last.get(shape, first - 1) + 1, 10 * first):
                self._last[shape] = number
                candidate = _fitted(stem, f" ({number}){extension}")
                if (key := _key(candidate)) not in self._taken:
                    return candidate, key


def _key(name: str) -> int:
    return hash(name.lower() if name.isascii() else unicodedata.normalize("NFC", name.casefold()))
