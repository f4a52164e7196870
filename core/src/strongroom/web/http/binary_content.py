"""The OpenAPI content of bodies that are bytes."""

from typing import Any, Final

from strongroom.foundation.media_types import BINARY

NDJSON: Final = "application/x-ndjson"
"""JSON lines: one JSON value per line."""

_BYTES: Final = {"type": "string", "format": "binary"}


def binary_content(*media_types: str) -> dict[str, Any]:
    """Return the OpenAPI content of bytes that have one of the media types.

    ``application/octet-stream`` is the first one, because common generators of clients treat only this
    type as bytes, and leave out operations and responses that have no type that they know.
    """
    return {each: {"schema": _BYTES} for each in (BINARY, *media_types)}


def json_lines_content() -> dict[str, Any]:
    """Return the OpenAPI content of a body that must be JSON lines."""
    return {NDJSON: {"schema": _BYTES}}
