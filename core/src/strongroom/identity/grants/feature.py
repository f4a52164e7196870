"""Grants: what users let clients do, and the tokens of the clients."""

from collections.abc import Iterable

from strongroom.activity.events.declarations import (
    USER,
    actor_data,
    details,
    nullable,
    on,
    server_event,
    text,
)
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature


class ClientGrantsFeature(Feature):
    """Grants of clients."""

    services = "services:GrantServices"

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "authorization.granted",
            "A user let a client act, or a service account's client began to act.",
            (
                USER,
                text("authorizationId", "The grant"),
                text("clientId", "The client"),
                text("clientName", "The name of the client"),
                text("scopes", "The scopes, separated by spaces"),
                ACTOR,
            ),
            on("authorization.grant", _granted),
        )
        yield server_event(
            "authorization.withdrawn",
            "One grant of a client, all grants of a user, or all grants of a client ended.",
            (
                nullable("authorizationId", "The grant, or null if several ended"),
                nullable("userId", "The user whose grants ended, or null for one grant or a client"),
                text("clientId", "The client", required=False),
                ACTOR,
            ),
            on("authorization.withdraw", _withdrawn),
        )


def _granted(record: Record) -> Data:
    names = ("clientId", "clientName", "scopes")
    users = {"userId": record.actor_id, "authorizationId": record.target_id}
    return {**users, **details(record, *names), **actor_data(record)}


def _withdrawn(record: Record) -> Data:
    ids: Data = {"authorizationId": None, "userId": None}
    if record.target_type is not None:
        ids[f"{record.target_type}Id"] = record.target_id
    return {**ids, **details(record, "clientId"), **actor_data(record)}
