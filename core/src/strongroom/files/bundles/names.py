"""What entries of an archive are called, so that unpacking them harms nobody on any system."""

import re
import unicodedata
from typing import Final

from strongroom.files.names import numbered

MAX_COMPONENT_BYTES: Final = 255
"""What the file systems in use accept as one name, in UTF-8."""

_DEVICE = re.compile(r"(?i:CON|PRN|AUX|NUL|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)")
_SAFE = re.compile(rf"(?!{_DEVICE.pattern})[\w()\[\]{{}} ,;=+@#$%&'!.-]{{0,60}}[\w)\]}}-]")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|]')


def safe_name(name: str) -> str:
    """Return the name with what Windows or a shell would take for something else replaced.

    Such are separators, drive letters and streams, wildcards, names of devices, and dots and blanks at
    the end, which Windows drops.
    """
    if _SAFE.fullmatch(name):
        return name
    cleaned = _FORBIDDEN.sub("_", name)
    kept = cleaned.rstrip(". ")
    cleaned = kept + "_" * (len(cleaned) - len(kept))
    return _shortened(f"_{cleaned}" if _DEVICE.match(cleaned) else cleaned)


def _shortened(name: str) -> str:
    """Return the name cut before its extension, to what file systems accept."""
    if len(name.encode()) <= MAX_COMPONENT_BYTES:
        return name
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension.encode()) > MAX_COMPONENT_BYTES // 4:
        stem, dot, extension = name, "", ""
    room = MAX_COMPONENT_BYTES - len((dot + extension).encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(". ") + dot + extension


class UniqueNames:
    """Gives the entries of one folder names that also differ where case or form do not count."""

    def __init__(self) -> None:
        # Hashes, not names: a folder may hold very many.
        self._taken: set[int] = set()

    def add(self, name: str) -> str:
        """Return a safe name for an entry, numbered if another has it already."""
        candidate = safe_name(name)
        number = 0
        while (key := _key(candidate)) in self._taken:
            number += 1
            candidate = safe_name(numbered(safe_name(name), number))
        self._taken.add(key)
        return candidate


def _key(name: str) -> int:
    return hash(name.lower() if name.isascii() else unicodedata.normalize("NFC", name.casefold()))
