"""Operations on health. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Alive, Ready
from ..operations import Operation


def get_liveness() -> Operation[Alive]:
    """Report that the process is alive. If there is no response, restart the process."""
    return Operation(
        "GET",
        "/livez",
        Alive,
    )


def get_readiness() -> Operation[Ready]:
    """Report whether all parts are available: the database, its schema, the limits and each storage.

    Otherwise the details of the error name the unavailable parts. They contain no secrets. ``notes``
    are remarks about available parts, such as a newer schema that is compatible with this version.
    While the server drains, the details contain the code ``draining``.
    """
    return Operation(
        "GET",
        "/readyz",
        Ready,
    )
