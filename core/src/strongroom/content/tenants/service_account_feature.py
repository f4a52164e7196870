"""Service accounts: users of a tenant for programs."""

from collections.abc import Iterable

from strongroom.activity.events.declarations import on, user_data
from strongroom.identity.accounts.feature import DELETED, REGISTERED, registration_data
from strongroom.web.feature import CoreEvent, Feature


class ServiceAccountsFeature(Feature):
    """Service accounts of tenants."""

    blueprints = ("service_account_views:blueprint",)

    def register_event_types(self) -> Iterable[CoreEvent]:
        registered = dict([on("service-account.create", registration_data)])
        return [
            CoreEvent(REGISTERED.type, registered),
            CoreEvent(DELETED.type, dict([on("service-account.delete", user_data)])),
        ]
