"""Imports of users from other systems."""

from collections.abc import Iterable
from typing import ClassVar, Final

from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
from strongroom.activity.events.declarations import actor_data, details, on, server_event, text
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature

_COUNTS: Final = ("created", "updated", "skipped", "failed")


class UserImportsFeature(Feature):
    """Imports of users."""

    blueprints = ("views:blueprint", "export_views:blueprint")
    services = "services:UserImportServices"

    silent_actions: ClassVar = {
        ("user.import", SUCCESS): "the importer has not chosen events; the end of the import is one",
        ("user.import-update", SUCCESS): "the importer has not chosen events; the end is one",
        ("user-import.create", SUCCESS): "its end is an event",
        ("user-export.create", SUCCESS): "no user changes; the audit log has it",
        ("user-import.cancel", SUCCESS): "the administrator knows it",
    }

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "user_import.finished",
            "An import of users has ended.",
            (
                text("importId", "The import"),
                *(text(name, f"The number of lines that were {name}") for name in _COUNTS),
                text("dryRun", "`true` if nothing was changed"),
                text("state", "`finished`; `revoked`: the caller has lost the right to it"),
                ACTOR,
            ),
            on("user-import.finish", _import),
            on("user-import.revoke", _import, FAILURE),
        )


def _import(record: Record) -> Data:
    return {
        "importId": record.target_id,
        **details(record, *_COUNTS, "dryRun", "state"),
        **actor_data(record),
    }
