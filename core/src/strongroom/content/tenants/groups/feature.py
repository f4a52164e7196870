"""Groups of a tenant's members."""

from collections.abc import Iterable
from typing import Final

from strongroom.activity.events.declarations import (
    TENANT,
    USER,
    actor_data,
    details,
    on,
    server_event,
    text,
)
from strongroom.content.tenants.events import GROUP
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature

_NAMED: Final = (TENANT, GROUP, text("name", "Its name after the event"), ACTOR)
_MEMBER: Final = (TENANT, GROUP, USER, ACTOR)


class GroupsFeature(Feature):
    """Groups of members."""

    blueprints = ("views:blueprint",)
    resource_kinds = "resource_kinds:KINDS"

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event("group.created", "A group was created.", _NAMED, on("group.create", _group))
        yield server_event("group.updated", "A group was renamed.", _NAMED, on("group.update", _group))
        yield server_event(
            "group.deleted",
            "A group was deleted with its memberships and grants.",
            _NAMED,
            on("group.delete", _group),
        )
        yield server_event(
            "group.member_added",
            "A user was added to a group.",
            _MEMBER,
            on("group-member.add", _member),
        )
        yield server_event(
            "group.member_removed",
            "A user was removed from a group.",
            _MEMBER,
            on("group-member.remove", _member),
        )


def _group(record: Record) -> Data:
    ids = {"tenantId": record.details["tenant"], "groupId": record.target_id}
    return {**ids, **details(record, "name"), **actor_data(record)}


def _member(record: Record) -> Data:
    return {**_group(record), "userId": record.details["user"]}
