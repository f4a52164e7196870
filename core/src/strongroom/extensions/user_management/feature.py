"""Users as administrators manage them."""

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


def _link(record: Record) -> Data:
    return {"userId": record.target_id, **details(record, "kind"), **actor_data(record)}


class UserManagementFeature(Feature):
    """Users as administrators manage them."""

    blueprints = ("views:blueprint", "account_views:blueprint")
    services = "services:UserManagementServices"

    def register_event_types(self) -> Iterable[CoreEvent]:
        of_user = (USER, ACTOR)
        return [
            server_event(
                "user.metadata_changed",
                "The metadata of a user was changed.",
                of_user,
                on("user.change-metadata", user_data),
                on("user.change-server-metadata", user_data),
            ),
            server_event(
                "password.given",
                "An administrator gave a user a temporary password.",
                of_user,
                on("password.give", user_data),
            ),
            server_event(
                "password.link_issued",
                "An administrator issued a link that sets a user's password.",
                (USER, text("kind", "`invite` or `reset`"), ACTOR),
                on("password-link.issue", _link),
            ),
            server_event(
                "password.link_redeemed",
                "A user set a password by a link.",
                (USER, text("kind", "`invite` or `reset`"), ACTOR),
                on("password-link.redeem", _link),
            ),
        ]
