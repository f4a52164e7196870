"""Builds what one server needs: the queue, the sender and the endpoints."""

from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.outbound import OutboundClient
from strongroom_webhooks.endpoints import Endpoints
from strongroom_webhooks.models import Endpoint
from strongroom_webhooks.options import WebhookOptions
from strongroom_webhooks.owners import Owners
from strongroom_webhooks.queue import DeliveryQueue
from strongroom_webhooks.schedule import Schedule
from strongroom_webhooks.sender import Sender

_HOUR: Final = 60 * 60 * 1000
_DAY: Final = 24 * _HOUR
_SUBJECT: Final = "A webhook was turned off"
_TEXT: Final = (
    "Your webhook to {host} was turned off: {reason}. Messages that are not sent yet are kept. "
    "Repair the receiver, then turn the webhook on again."
)


class Webhooks:
    """The parts of the plugin in one server. Nothing is opened before it is used."""

    def __init__(self, host: HostAPI) -> None:
        self._host = host
        self._sender: Sender | None = None

    @cached_property
    def queue(self) -> DeliveryQueue:
        """The deliveries."""
        return DeliveryQueue(
            self._host.database,
            self._host.clock,
            Schedule(self.options.schedule_seconds),
            timeout=round(self.options.timeout_seconds * 1000),
            disable_after=self.options.disable_after_hours * _HOUR,
            on_disabled=self._notify,
        )

    @cached_property
    def client(self) -> OutboundClient:
        """The client that calls endpoints."""
        return OutboundClient(self.options.policy())

    @cached_property
    def owners(self) -> Owners:
        """The rights of the owners of endpoints."""
        return Owners(self._host)

    @cached_property
    def endpoints(self) -> Endpoints:
        """The endpoints."""
        return Endpoints(self._host, self.queue, self.client, self.owners)

    @property
    def options(self) -> WebhookOptions:
        """The options of the plugin."""
        options: WebhookOptions = self._host.options
        return options

    def sender(self) -> Sender:
        """Return a new sender."""
        return Sender(
            self.queue,
            self.client,
            self._host.secrets.unseal,
            self._host.clock,
            self.options.concurrency,
            self.owners,
        )

    def start(self) -> None:
        """Begin to send, unless the configuration leaves that to other servers."""
        if self.options.enabled:
            self._sender = self.sender()
            self._sender.start()

    def stop(self) -> None:
        """End sending."""
        if self._sender:
            self._sender.stop()

    def wake(self) -> None:
        """Send the due deliveries, if this process sends."""
        if self._sender:
            self._sender.wake()

    def prune(self) -> int:
        """Delete old deliveries; return how many."""
        return self.queue.prune(self._host.clock.now() - self.options.retention_days * _DAY)

    def erase_tenant(self, tenant_id: str) -> None:
        """Remove the endpoints of a tenant, with their deliveries."""
        self.queue.erase_tenant(tenant_id)

    def _notify(self, endpoint: Endpoint, reason: str) -> None:
        text = _TEXT.format(host=urlsplit(endpoint.url).hostname, reason=reason)
        self._host.notify(endpoint.owner_id, _SUBJECT, text)


_started: Final[list[Webhooks]] = []


def start_sending(host: HostAPI) -> None:
    """Begin to send, when the process begins to serve."""
    webhooks = host.get_service(Webhooks)
    webhooks.start()
    _started.append(webhooks)


def stop_sending() -> None:
    """End sending, when the process ends."""
    while _started:
        _started.pop().stop()
