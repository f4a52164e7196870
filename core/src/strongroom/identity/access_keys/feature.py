"""Access keys: tokens of users for programs, with scopes."""

from collections.abc import Iterable
from typing import ClassVar, Final

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.activity.events.declarations import USER, actor_data, on, server_event, text
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature

_FIELDS: Final = (text("keyId", "The access key"), USER, ACTOR)


class AccessKeysFeature(Feature):
    """Access keys and their routes."""

    blueprints = ("views:blueprint",)
    services = "services:AccessKeyServices"

    silent_actions: ClassVar = {("access-key.rename", SUCCESS): "the name of a key is for its user only"}

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "access_key.created", "An access key was created.", _FIELDS, on("access-key.create", _key)
        )
        yield server_event(
            "access_key.rotated",
            "An access key got a new secret.",
            _FIELDS,
            on("access-key.rotate", _key),
        )
        yield server_event(
            "access_key.revoked",
            "An access key was revoked, by its user or because it was reported as leaked.",
            _FIELDS,
            on("access-key.revoke", _key),
            on("access-key.leaked", _key),
        )


def _key(record: Record) -> Data:
    return {"keyId": record.target_id, "userId": record.details["user"], **actor_data(record)}
