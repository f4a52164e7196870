"""Operations on share assets. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..operations import Operation


def get_drop_script() -> Operation[None]:
    """Get the script that makes uploads of the pages resumable."""
    return Operation(
        "GET",
        "/share-links/drop.js",
        type(None),
    )
