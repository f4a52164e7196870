"""Transfers: a successor takes over the files of a leaver, or a tenant."""

from collections.abc import Iterable
from typing import Final

from strongroom.activity.events.declarations import TENANT, USER, on, server_event, text
from strongroom.content.tenants.events import member_data
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature

_FIELDS: Final = (TENANT, USER, text("toUserId", "The user who takes over"), ACTOR)


class TransfersFeature(Feature):
    """Transfers of files and tenants."""

    blueprints = ("views:blueprint",)
    services = "services:TransferServices"

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
