"""Holds on files, and how long tenants retain content."""

from collections.abc import Iterable
from typing import Final

from strongroom.activity.events.declarations import (
    NODE,
    TENANT,
    actor_data,
    details,
    nullable,
    on,
    server_event,
    tenant_data,
    text,
)
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature

_END: Final = text("until", "When the hold ends, if it has an end", required=False)


class RetentionFeature(Feature):
    """Holds and retention."""

    blueprints = ("views:blueprint",)
    services = "services:RetentionServices"

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "hold.placed",
            "A hold was placed on a file, or on a folder with its content, or was changed.",
            (NODE, TENANT, _END, ACTOR),
            on("hold.place", _hold),
        )
        yield server_event(
            "hold.released",
            "A hold was released.",
            (NODE, TENANT, _END, ACTOR),
            on("hold.release", _hold),
        )
        yield server_event(
            "retention.changed",
            "The retention of a tenant was changed.",
            (TENANT, ACTOR),
            on("retention.set", tenant_data),
        )
        yield server_event(
            "retention.overridden",
            "An administrator removed retained content, or deleted a tenant with such content.",
            (
                nullable("fileId", "The file or folder, or null for a tenant"),
                TENANT,
                text("until", "When its retention would have ended"),
                ACTOR,
            ),
            on("retention.override", _override),
        )


def _hold(record: Record) -> Data:
    ids = {"fileId": record.target_id, "tenantId": record.details.get("tenant")}
    # The reason may be confidential; it is in the audit log.
    return {**ids, **details(record, "until"), **actor_data(record)}


def _override(record: Record) -> Data:
    file_id = record.target_id if record.target_type == "file" else None
    return {**_hold(record), "fileId": file_id}
