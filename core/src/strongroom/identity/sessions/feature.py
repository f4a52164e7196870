"""Logins, tokens and their revocation."""

from collections.abc import Iterable
from typing import ClassVar

from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
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
from strongroom.web.core_events import Convert, CoreEvent, Data, Record
from strongroom.web.feature import Feature


class SessionsFeature(Feature):
    """Logins and their tokens."""

    blueprints = ("views:blueprint",)
    services = "services:SessionServices"

    silent_actions: ClassVar = {
        ("authorization.refresh", SUCCESS): "each client does it every few minutes",
        ("authorization.step-up", FAILURE): "nothing changed",
        ("authorization.step-up", SUCCESS): "the login was there before",
        ("login.challenge", SUCCESS): "half a login, which the second proof completes",
        ("secret.adopt", SUCCESS): "maintenance",
        ("state.spend", FAILURE): "nothing changed",
    }

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "login.succeeded",
            "A user logged in.",
            (USER, text("authorizationId", "The login"), text("method", "The login method")),
            on("login", _login),
        )
        yield server_event(
            "login.failed",
            "A login was refused.",
            (
                nullable("userId", "The user, or null if there is none of the name"),
                text("code", "The error code of the response"),
            ),
            on("login", _failed_login, FAILURE),
        )
        yield server_event(
            "authorization.revoked",
            "One login, all logins of a user, or all logins of all users were revoked.",
            (
                nullable("authorizationId", "The login, or null if several were revoked"),
                nullable("userId", "The user whose logins were revoked, or null for one login or all"),
                text("reason", "`logout`, `revoked-all`, or `reuse` of a refresh token"),
                text("clientId", "The client, if it was a client's grant", required=False),
                ACTOR,
            ),
            on("authorization.revoke", _revoked("logout")),
            on("authorization.revoke-all", _revoked("revoked-all")),
            on("refresh-token.reuse", _revoked("reuse"), FAILURE),
        )


def _login(record: Record) -> Data:
    return {
        "userId": record.actor_id,
        "authorizationId": record.target_id,
        "method": record.details["method"],
    }


def _failed_login(record: Record) -> Data:
    return {"userId": record.target_id, "code": record.details["code"]}


def _revoked(reason: str) -> Convert:
    def convert(record: Record) -> Data:
        ids: Data = {"authorizationId": None, "userId": None}
        if record.target_type is not None:
            ids[f"{record.target_type}Id"] = record.target_id
        return {**ids, "reason": reason, **details(record, "clientId"), **actor_data(record)}

    return convert
