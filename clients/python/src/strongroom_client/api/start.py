"""Operations on start. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..operations import Operation


def get_favicon() -> Operation[None]:
    """Answer browsers, which request it with each first page; the server has no icon."""
    return Operation(
        "GET",
        "/favicon.ico",
        type(None),
    )
