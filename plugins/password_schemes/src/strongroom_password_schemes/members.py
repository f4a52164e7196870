"""Reads the members of a described hash, which may be of any type and size."""

import base64
import binascii
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from strongroom.plugin_api.password_schemes import HashRejected, Json

MAX_TEXT: Final = 4096


def is_exported(described: Json) -> bool:
    """Return whether this server has exported the hash, as the text that it stores."""
    return isinstance(described.get("hash"), str)


def get_text(described: Json, name: str, default: str | None = None) -> str:
    """Return a member that is text of ASCII characters.

    Raises:
        HashRejected: it is missing, something else, or too long.
    """
    value = described.get(name, default)
    if not isinstance(value, str) or not value.isascii() or len(value) > MAX_TEXT:
        raise HashRejected(f"{name} must be text of at most {MAX_TEXT} ASCII characters")
    return value


def read_whole(described: Json, name: str, default: int | None = None) -> int:
    """Return a member that is a positive whole number, also one in text.

    Raises:
        HashRejected: it is missing, or something else.
    """
    value = described.get(name, default)
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,10}", value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise HashRejected(f"{name} must be a positive whole number")
    return value


def read_object(described: Json, name: str, *, is_optional: bool = False) -> Mapping[str, Any]:
    """Return a member that is an object, or one in JSON text.

    Raises:
        HashRejected: it is missing, or something else.
    """
    value = described.get(name, {} if is_optional else None)
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, Mapping):
        raise HashRejected(f"{name} must be an object")
    return value


def unbase64(text: str, name: str = "hash") -> bytes:
    """Decode base64 of any common alphabet, with or without padding.

    Raises:
        HashRejected: the text is malformed.
    """
    standard = text.rstrip("=").translate(_TO_STANDARD)
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error as error:
        raise HashRejected(f"{name} must be base64") from error


# The URL-safe alphabet, and the one in which passlib writes "." for "+".
_TO_STANDARD: Final = str.maketrans("-_.", "+/+")


def to_base64(content: bytes) -> str:
    """Encode base64 without padding, as in the PHC string format."""
    return base64.b64encode(content).rstrip(b"=").decode()
