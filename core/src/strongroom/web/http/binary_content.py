"""The OpenAPI content of bodies that are bytes."""

from typing import Any

from strongroom.foundation.media_types import BINARY


def binary_content(*media_types: str) -> dict[str, Any]:
    """Return the OpenAPI content of bytes that have one of the media types.

    ``application/octet-stream`` is the first one, because common generators of clients treat only this
    type as bytes, and leave out operations and responses that have no type that they know.
    """
    return {each: {"schema": {"type": "string", "format": "binary"}} for each in (BINARY, *media_types)}
