"""The rights of the owners of endpoints, without which nothing is sent."""

from typing import Final

from strongroom.plugin_api.host import HostAPI
from strongroom_webhooks.models import Endpoint

OWNER_GONE: Final = "its owner no longer administers what it covers"
"""The reason of an endpoint that waits for an administrator who takes it over."""

TARGET: Final = "webhook-endpoint"
"""The target type of audit records."""


class Owners:
    """The owners of endpoints."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host

    def administer(self, endpoint: Endpoint) -> bool:
        """Return whether the owner of an endpoint administers its tenant, or the server."""
        return self._host.administers(endpoint.owner_id, endpoint.tenant_id)

    def record_stop(self, endpoint: Endpoint) -> None:
        """Record that an endpoint was disabled because of its owner."""
        details = {"owner": endpoint.owner_id, "tenant": endpoint.tenant_id}
        self._host.audit("endpoint-stop", TARGET, endpoint.id, details)

    def record_take_over(self, endpoint: Endpoint) -> None:
        """Record that the caller has taken over an endpoint of the given former owner."""
        details = {"formerOwner": endpoint.owner_id, "tenant": endpoint.tenant_id}
        self._host.audit("endpoint-take-over", TARGET, endpoint.id, details)
