"""Operations on health. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Alive, Ready
from ..operations import Operation


def get_liveness() -> Operation[Alive]:
    """Report that the process is alive. If there is no response, restart the process.

    It checks nothing else: see `/readyz` for whether the instance can serve requests.
    """
    return Operation(
        "GET",
        "/livez",
        Alive,
    )


def get_readiness() -> Operation[Ready]:
    """Report whether this instance can serve requests; load balancers send requests only then.

    503 only for faults of this instance: it starts (code `starting`), it drains (`draining`), its
    disk, or a schema that it cannot serve. The details of the error name them. `notes` are faults of
    parts that all instances share, such as the database, the limits or a remote storage, and remarks,
    such as a newer schema that is compatible. Requests that need a part with a fault are refused; all
    others are served. No text contains secrets.
    """
    return Operation(
        "GET",
        "/readyz",
        Ready,
    )
