"""Scans of content, and the quarantine."""

from collections.abc import Iterable
from typing import ClassVar, Final

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.activity.events.declarations import actor_data, details, nullable, on, server_event, text
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature

_TENANT: Final = nullable("tenantId", "The tenant of the file, or null without one")


class ScanningFeature(Feature):
    """Scans and the quarantine."""

    blueprints = ("views:blueprint",)
    services = "services:ScanningServices"

    silent_actions: ClassVar = {
        ("quarantine.delete", SUCCESS): "the deletion of the file is an event of its own"
    }

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "scan.infected",
            "A content scanner refused an upload, or found a stored file, which is now in quarantine.",
            (
                nullable("fileId", "The file or business file, or null for a refused upload"),
                _TENANT,
                text("outcome", "`refused` or `quarantined`"),
                text("scanner", "The name of the scanner"),
                text("reason", "The signature that matched, or why the content was refused"),
                ACTOR,
            ),
            on("scan.infected", _scanned),
        )
        yield server_event(
            "quarantine.released",
            "An administrator released a file from quarantine.",
            (text("fileId", "The file or business file"), _TENANT, ACTOR),
            on("quarantine.release", _scanned),
        )


def _scanned(record: Record) -> Data:
    # Releases have none of these details.
    ids = {"fileId": record.target_id, "tenantId": record.details.get("tenant")}
    return {**ids, **details(record, "outcome", "scanner", "reason"), **actor_data(record)}
