"""Validation and normalization of file and folder names."""

import unicodedata
from collections.abc import Sequence
from typing import Final

from strongroom.foundation.errors import ValidationFailed
from strongroom.plugin_api.names import NOT_ONE_LINE, has_visible_character

MAX_LENGTH: Final = 255

MAX_PATH_LENGTH: Final = 4096
MAX_PATH_NAMES: Final = 32
"""Limits of a relative path, whose missing folders are all created by one upload."""


def normalize_name(name: str) -> str:
    """Return a name in Unicode normalization form C.

    Raises:
        ValidationFailed: it is empty, longer than 255 characters, ``.`` or ``..``, has no visible
            character, or contains ``/``, a control character, a line separator or a surrogate.
    """
    normalized = unicodedata.normalize("NFC", name)
    if not 1 <= len(normalized) <= MAX_LENGTH:
        raise _invalid(f"Must have 1 to {MAX_LENGTH} characters.")
    if normalized in (".", ".."):
        raise _invalid('May not be "." or "..".')
    if not has_visible_character(normalized):
        raise _invalid("Must have a visible character.")
    # None of the refused characters is printable, and most names are.
    is_plain = normalized.isprintable() and "/" not in normalized
    if not is_plain and any(
        char == "/" or unicodedata.category(char) in NOT_ONE_LINE for char in normalized
    ):
        raise _invalid('May not contain "/" or a control character.')
    return normalized


def parse_path(path: str) -> tuple[tuple[str, ...], str]:
    """Return the normalized names of a relative path: its folders' names, and the file's.

    Raises:
        ValidationFailed: the path is absolute, too long or too deep, contains a backslash, or has an
            empty or invalid name.
    """
    names = path.split("/")
    if len(path) > MAX_PATH_LENGTH or len(names) > MAX_PATH_NAMES:
        raise _invalid_path(
            f"Must have at most {MAX_PATH_LENGTH} characters and {MAX_PATH_NAMES} names."
        )
    # Windows clients interpret it as a path separator.
    if "\\" in path:
        raise _invalid_path('Must separate names by "/" and may not contain a backslash.')
    try:
        *folders, last = map(normalize_name, names)
    except ValidationFailed as error:
        raise _invalid_path(f"Must be names like a/b/c.txt: {error.details[0].message}") from error
    return tuple(folders), last


def chosen_name(folders: Sequence[str], last: str | None, sent: str | None) -> str:
    """Return the name of a file with a relative path and a name that is sent with it; empty if unnamed.

    Browsers send the whole path of a file of a folder as its name, so the path decides. Without folders,
    the sent name decides, because some tus clients send the text "null" as the path of a single file.
    """
    return (last if folders else sent or last) or ""


def numbered(name: str, number: int) -> str:
    """Return the name with a number before its extension, truncated to the maximum length."""
    stem, dot, extension = name.rpartition(".")
    # A hidden file has no stem, and a very long suffix is not an extension.
    if not stem or len(extension) > MAX_LENGTH // 4:
        stem, dot, extension = name, "", ""
    suffix = f" ({number}){dot}{extension}"
    return stem[: MAX_LENGTH - len(suffix)] + suffix


def _invalid(message: str) -> ValidationFailed:
    return ValidationFailed.of_field("name", "invalid-name", message)


def _invalid_path(message: str) -> ValidationFailed:
    return ValidationFailed.of_field("relativePath", "invalid-path", message)
