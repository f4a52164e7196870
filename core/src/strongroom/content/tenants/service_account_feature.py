"""Service accounts: users of a tenant for programs."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from strongroom.activity.events.declarations import on, user_data
from strongroom.identity.accounts.feature import DELETED, REGISTERED, registration_data
from strongroom.web.feature import CoreEvent, Feature

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint


class ServiceAccountsFeature(Feature):
    """Service accounts of tenants."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.tenants.service_account_views import blueprint

        return [blueprint]

    def register_event_types(self) -> Iterable[CoreEvent]:
        registered = dict([on("service-account.create", registration_data)])
        return [
            CoreEvent(REGISTERED.type, registered),
            CoreEvent(DELETED.type, dict([on("service-account.delete", user_data)])),
        ]
