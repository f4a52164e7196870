"""Permissions of users and groups on files and folders."""

from collections.abc import Iterable
from typing import Final

from strongroom.activity.events.declarations import (
    NODE,
    TENANT,
    actor_data,
    details,
    on,
    server_event,
    text,
)
from strongroom.content.tenants.events import GROUP
from strongroom.plugin_api.events import ACTOR, EventField
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature

_PERMISSION: Final = text("permission", "`read`, `write` or `manage`")
_END: Final = EventField(
    "expiresAt",
    "When the permission ends",
    {"type": "string", "format": "date-time"},
    is_required=False,
)


class GrantsFeature(Feature):
    """Permissions on files and folders."""

    blueprints = ("grant_views:blueprint",)

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "grant.set",
            "A user was granted a permission on a file or folder, or the permission was changed.",
            (
                TENANT,
                NODE,
                text("userId", "The user who holds the permission"),
                _PERMISSION,
                _END,
                ACTOR,
            ),
            on("grant.put", _grant),
        )
        yield server_event(
            "grant.removed",
            "A permission on a file or folder was revoked.",
            (TENANT, NODE, _user("held"), ACTOR),
            on("grant.remove", _grant),
        )
        yield server_event(
            "group_grant.set",
            "A group was granted a permission on a file or folder, or the permission was changed.",
            (TENANT, NODE, GROUP, _PERMISSION, _END, ACTOR),
            on("group-grant.put", _group_grant),
        )
        yield server_event(
            "group_grant.removed",
            "A group's permission on a file or folder was revoked.",
            (TENANT, NODE, GROUP, ACTOR),
            on("group-grant.remove", _group_grant),
        )


def _user(verb: str) -> EventField:
    return text("userId", f"The user who {verb} the permission")


def _grant(record: Record) -> Data:
    return _granted(record, {"userId": record.details["user"]})


def _group_grant(record: Record) -> Data:
    return _granted(record, {"groupId": record.details["group"]})


def _granted(record: Record, grantee: Data) -> Data:
    ids = {"tenantId": record.details.get("tenant"), "fileId": record.target_id, **grantee}
    return {**ids, **details(record, "permission", "expiresAt"), **actor_data(record)}
