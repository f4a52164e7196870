"""Accounts of users: profiles, credentials, passwords and second factors."""

from collections.abc import Iterable
from typing import ClassVar, Final

from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
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

_KIND: Final = text("kind", "The kind of the credential, such as `email`")
_FACTOR: Final = text("factor", "The factor, such as `totp`, or `all`")

# Records of versions before have no cause.
_SUSPENDED_BY: Final = text("cause", "`administrator`, `import` or `platform`", required=False)
_UNTIL: Final = text("until", "The end of the suspension, if it has one", required=False)
_REINSTATED_BY: Final = text(
    "cause", "`administrator`, or `until`: the suspension was over", required=False
)


def registration_data(record: Record) -> Data:
    """Return the data of an event about a new user: the target."""
    return {"userId": record.target_id, "userType": record.details["type"], **actor_data(record)}


def _credential(record: Record) -> Data:
    return {"userId": record.target_id, "kind": record.details["kind"], **actor_data(record)}


def _suspension(record: Record) -> Data:
    return {**user_data(record), **details(record, "cause", "until")}


def _factor(record: Record) -> Data:
    return {"userId": record.target_id, "factor": record.details["factor"], **actor_data(record)}


REGISTERED: Final = server_event(
    "user.registered",
    "A user was created.",
    (USER, text("userType", "`USER`, `ADMIN` or `SERVICE`"), ACTOR),
    on("user.create", registration_data),
)
DELETED: Final = server_event(
    "user.deleted",
    "A user was deleted.",
    (USER, ACTOR),
    on("user.delete", user_data),
)


class AccountsFeature(Feature):
    """Accounts of users."""

    blueprints = (
        "views:blueprint",
        "credential_views:blueprint",
        "factor_views:blueprint",
    )
    services = "services:AccountServices"

    silent_actions: ClassVar = {
        ("consent.accept", SUCCESS): "the registration or login that has it is an event",
        ("credential.bind", FAILURE): "nothing changed",
        ("factor.rename", SUCCESS): "the name is for its user only",
        ("plugin.act-as", SUCCESS): "what the plugin then does has events of its own",
        ("user.erase", SUCCESS): "names no user",
    }

    def register_event_types(self) -> Iterable[CoreEvent]:
        of_user = (USER, ACTOR)
        return [
            REGISTERED,
            server_event(
                "user.updated",
                "The profile of a user was changed.",
                of_user,
                on("user.change", user_data),
            ),
            server_event(
                "user.suspended",
                "A user was suspended.",
                (USER, _SUSPENDED_BY, _UNTIL, ACTOR),
                on("user.suspend", _suspension),
            ),
            server_event(
                "user.reinstated",
                "A suspended user was reinstated.",
                (USER, _REINSTATED_BY, ACTOR),
                on("user.reinstate", _suspension),
            ),
            DELETED,
            server_event(
                "credential.bound",
                "A credential was added to a user.",
                (USER, _KIND, ACTOR),
                on("credential.bind", _credential),
            ),
            server_event(
                "credential.unbound",
                "A credential of a user was removed.",
                (USER, _KIND, ACTOR),
                on("credential.unbind", _credential),
            ),
            server_event(
                "password.changed",
                "A user changed the password.",
                of_user,
                on("password.change", user_data),
            ),
            server_event(
                "password.reset",
                "A user set a new password by a code.",
                of_user,
                on("password.reset", user_data),
            ),
            server_event(
                "factor.added",
                "A user enrolled a second factor.",
                (USER, _FACTOR, ACTOR),
                on("factor.add", _factor),
            ),
            server_event(
                "factor.removed",
                "A user removed a second factor, or an administrator removed all of a user.",
                (USER, _FACTOR, ACTOR),
                on("factor.remove", _factor),
                on("factor.reset", _factor),
            ),
        ]
