"""Service accounts of the server, and the events of all service accounts."""

from collections.abc import Iterable

from strongroom.activity.events.declarations import on, user_data
from strongroom.identity.accounts.feature import DELETED, REGISTERED, registration_data
from strongroom.web.core_events import CoreEvent
from strongroom.web.feature import Feature


class ServerAccountsFeature(Feature):
    """Service accounts of the server and their routes."""

    blueprints = ("views:blueprint",)
    services = "services:ServerAccountServices"
    resource_kinds = "resource_kinds:KINDS"

    def register_event_types(self) -> Iterable[CoreEvent]:
        registered = dict([on("service-account.create", registration_data)])
        return [
            CoreEvent(REGISTERED.type, registered),
            CoreEvent(DELETED.type, dict([on("service-account.delete", user_data)])),
        ]
