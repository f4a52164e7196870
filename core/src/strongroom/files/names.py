"""Validation and normalization of file and folder names."""

import unicodedata
from typing import Final

from strongroom.errors import ValidationFailed

MAX_LENGTH: Final = 255


def normalize_name(name: str) -> str:
    """Return a name in Unicode normalization form C.

    Raises:
        ValidationFailed: it is empty, longer than 255 characters, ``.`` or ``..``, or contains ``/``, a
            control character or a surrogate.
    """
    normalized = unicodedata.normalize("NFC", name)
    if not 1 <= len(normalized) <= MAX_LENGTH:
        raise _invalid(f"Must have 1 to {MAX_LENGTH} characters.")
    if normalized in (".", ".."):
        raise _invalid('May not be "." or "..".')
    # Cc are control characters; Cs are surrogates, which UTF-8 cannot encode.
    if any(char == "/" or unicodedata.category(char) in ("Cc", "Cs") for char in normalized):
        raise _invalid('May not contain "/" or a control character.')
    return normalized


def fold_name(name: str) -> str:
    """Return the form of a name that searches compare: compatible characters and cases are equal."""
    # Folding the case of a normalized text may undo the normalization.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


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
