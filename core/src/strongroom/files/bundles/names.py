"""What entries of an archive are called, so that unpacking them harms nobody on any system."""

import re
import unicodedata
from typing import Final

from strongroom.text_direction import without_direction

MAX_COMPONENT_BYTES: Final = 255
"""What the file systems in use accept as one name, in UTF-8."""

_DEVICE = re.compile(r"(?i:CON|PRN|AUX|NUL|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)")
_SAFE = re.compile(rf"(?!{_DEVICE.pattern})[\w()\[\]{{}} ,;=+@#$%&'!.-]{{0,60}}[\w)\]}}-]")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|]')


def safe_name(name: str) -> str:
    """Return the name with all characters replaced that Windows or a shell would misread.

    These are separators, drive letters and streams, wildcards, names of devices, dots and blanks at
    the end, which Windows drops, and controls of writing direction, which hide the extension.
    """
    if _SAFE.fullmatch(name):
        return name
    cleaned = _FORBIDDEN.sub("_", without_direction(name))
    kept = cleaned.rstrip(". ")
    cleaned = kept + "_" * (len(cleaned) - len(kept))
    return _fitted(*_split(f"_{cleaned}" if _DEVICE.match(cleaned) else cleaned))


def _split(name: str) -> tuple[str, str]:
    """Return what comes before the extension, and the extension with its dot."""
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension.encode()) > MAX_COMPONENT_BYTES // 4:
        return name, ""
    return stem, dot + extension


def _fitted(stem: str, ending: str) -> str:
    """Return stem and ending together, the stem cut to what file systems accept as one name."""
    room = MAX_COMPONENT_BYTES - len(ending.encode())
    encoded = stem.encode()
    if len(encoded) > room:
        stem = encoded[:room].decode(errors="ignore").rstrip(". ")
    return stem + ending


class UniqueNames:
    """Gives the entries of one folder names that also differ where case or form do not count."""

    def __init__(self) -> None:
        # Hashes, not names: a folder may hold very many.
        self._taken: set[int] = set()
        self._last: dict[int, int] = {}

    def add(self, name: str) -> str:
        """Return a safe name for an entry, numbered if another has it already."""
        candidate = safe_name(name)
        key = _key(candidate)
        if key in self._taken:
            candidate, key = self._numbered(candidate)
        self._taken.add(key)
        return candidate

    def _numbered(self, name: str) -> tuple[str, int]:
        """Return the first free name with a number, and its key.

        The last number is remembered by what the stem is cut to, because names that differ only beyond
        the cut share their numbers. More digits cut more, so it is remembered by their count, too.
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
