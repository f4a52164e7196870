"""What users do with all of their own data."""

from collections.abc import Iterable
from typing import ClassVar

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.activity.events.declarations import USER, details, on, server_event, text, user_data
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature


def _deletion(record: Record) -> Data:
    return {**user_data(record), **details(record, "dueAt", "cause")}


class OwnDataFeature(Feature):
    """Exports of one's own data, and deletions that the user can cancel."""

    blueprints = ("views:blueprint",)
    services = "services:OwnDataServices"

    silent_actions: ClassVar = {("user.export", SUCCESS): "concerns only its user"}

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "user.deletion_scheduled",
            "A user asked for the deletion of the own account.",
            (USER, text("dueAt", "When it will be deleted, in ISO 8601"), ACTOR),
            on("user.schedule-deletion", _deletion),
        )
        yield server_event(
            "user.deletion_cancelled",
            "A scheduled deletion was cancelled.",
            (USER, text("cause", "`user`, or `last-administrator`"), ACTOR),
            on("user.cancel-deletion", _deletion),
        )
