"""Messages to users by e-mail and SMS."""

from collections.abc import Mapping
from functools import partial

from strongroom.activity.notifications.service import MessageService
from strongroom.foundation.config import Settings
from strongroom.web.feature import Feature, PruneStep, ServiceLookup


class NotificationsFeature(Feature):
    """Messages to users."""

    services = "services:NotificationServices"

    def register_prune_steps(self, services: ServiceLookup) -> Mapping[str, PruneStep]:
        days = services(Settings).messages.retention_days
        return {"records of messages": partial(services(MessageService).prune, days)}
