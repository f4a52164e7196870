"""Impersonation of users by administrators."""

from collections.abc import Iterable

from strongroom.activity.events.declarations import (
    USER,
    actor_data,
    details,
    on,
    server_event,
    text,
    user_data,
)
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature


class ImpersonationFeature(Feature):
    """Impersonation and its route."""

    blueprints = ("views:blueprint",)
    services = "services:ImpersonationServices"

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "impersonation.started",
            "An administrator began to impersonate a user.",
            (
                USER,
                ACTOR,
                text("reason", "The reason that the administrator stated"),
                text("until", "When it ends at the latest, in ISO 8601"),
            ),
            on("impersonation.start", _started),
        )
        yield server_event(
            "impersonation.ended",
            "An impersonation was ended before its time, by the actor.",
            (USER, text("administratorId", "The administrator who had begun it"), ACTOR),
            on("impersonation.end", _ended),
        )


def _started(record: Record) -> Data:
    return {**user_data(record), **details(record, "reason", "until")}


def _ended(record: Record) -> Data:
    data = details(record, "userId", "administratorId")
    return {**data, **actor_data(record)}
