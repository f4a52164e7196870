"""Headers of requests: values in Base64, media types, and the origin of a page."""

import base64
from binascii import Error as Base64Error
from collections.abc import Collection
from typing import Final

VERSION: Final = "mcp-protocol-version"
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"

_BEGIN, _END = "=?base64?", "?="


def decode_value(value: str | None) -> str | None:
    """Return the value of a header, which may be Base64 of UTF-8; ``None`` if that is malformed."""
    if value is None or not (value.startswith(_BEGIN) and value.endswith(_END)):
        return value
    try:
        encoded = value[len(_BEGIN) : -len(_END)]
        return base64.b64decode(encoded, validate=True).decode()
    except (Base64Error, ValueError):
        return None


def accepts_json(accept: str | None) -> bool:
    """Return whether a header ``Accept`` permits JSON; without one, everything is accepted."""
    if not accept:
        return True
    ranges = {item.partition(";")[0].strip().lower() for item in accept.split(",")}
    return not ranges.isdisjoint({"application/json", "application/*", "*/*"})


def is_json(content_type: str | None) -> bool:
    """Return whether a header ``Content-Type`` is JSON."""
    return (content_type or "").partition(";")[0].strip().lower() == "application/json"


def is_own_origin(origin: str | None, allowed: Collection[str]) -> bool:
    """Return whether a request is from a program, which sends no origin, or from an allowed page.

    A page of another site could reach a server on the user's own computer by a name that resolves to it
    (DNS rebinding).
    """
    return origin is None or origin.lower() in allowed
