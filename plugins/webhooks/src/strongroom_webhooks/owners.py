"""The rights of the owners of endpoints, without which nothing is sent."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from strongroom.plugin_api.host import HostAPI
from strongroom_webhooks.models import Endpoint

OWNER_GONE: Final = "its owner no longer administers what it covers"
"""The reason of an endpoint that waits for an administrator who takes it over."""

TARGET: Final = "webhook-endpoint"
"""The target type of audit records."""


@dataclass(slots=True, eq=False, repr=False)
class Owners:
    """The owners of endpoints."""

    _host: HostAPI

    def administer(self, endpoint: Endpoint) -> bool:
        """Return whether the owner of an endpoint administers its tenant, or the server."""
        return self._host.users.administers(endpoint.owner_id, endpoint.tenant_id)

    def record_stop(self, endpoint: Endpoint) -> None:
        """Record that an endpoint was disabled because of its owner."""
        details = {"owner": endpoint.owner_id, "tenant": endpoint.tenant_id}
        self._host.audit("endpoint-stop", TARGET, endpoint.id, details)

    def record(self, action: str, endpoint: Endpoint, **details: str) -> None:
        """Record in the audit log what the caller has done with an endpoint.

        The record has the host of the URL only, because paths and queries may contain secrets.

        Args:
            action: a verb, such as ``create``.
        """
        about = {"tenant": endpoint.tenant_id, "host": urlsplit(endpoint.url).hostname}
        self._host.audit(f"endpoint-{action}", TARGET, endpoint.id, {**about, **details})
