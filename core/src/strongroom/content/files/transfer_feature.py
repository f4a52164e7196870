"""Transfers: a successor takes over the files of a leaver, or a tenant."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from strongroom.activity.events.declarations import TENANT, USER, on, server_event, text
from strongroom.content.tenants.events import member_data
from strongroom.plugin_api.events import ACTOR
from strongroom.web.feature import CoreEvent, Data, Feature, Record

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint

_FIELDS: Final = (TENANT, USER, text("toUserId", "The user who takes over"), ACTOR)


class TransfersFeature(Feature):
    """Transfers of files and tenants."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        from strongroom.content.files.transfer_views import blueprint

        return [blueprint]

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "member.transferred",
            "The files, folders and grants of a user were transferred to a member of the tenant.",
            _FIELDS,
            on("member.transfer", _transfer),
        )
        yield server_event(
            "tenant.transferred",
            "A tenant was handed over: one user became its administrator, and another ceased to be.",
            _FIELDS,
            on("tenant.transfer", _transfer),
        )


def _transfer(record: Record) -> Data:
    return {**member_data(record), "toUserId": record.details["toUser"]}
