"""The sink of events: queues them for endpoints."""

from collections.abc import Sequence
from dataclasses import dataclass

from strongroom.plugin_api.events import Event, EventSink
from strongroom_webhooks.service import Webhooks


@dataclass(slots=True, eq=False, repr=False)
class WebhookSink(EventSink):
    """Queues events, so that a slow receiver never delays the events of others.

    Args:
        webhooks: has the queue, which is opened by the first event.
    """

    name = "webhooks"

    _webhooks: Webhooks

    def deliver(self, events: Sequence[Event]) -> None:
        if self._webhooks.queue.append(events):
            self._webhooks.wake()
