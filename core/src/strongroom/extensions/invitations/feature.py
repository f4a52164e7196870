"""Invitations: become a member by an e-mail address or a mobile number."""

from collections.abc import Iterable
from typing import ClassVar, Final

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.activity.events.declarations import TENANT, USER, actor_data, on, server_event, text
from strongroom.content.tenants.events import ROLE
from strongroom.plugin_api.events import ACTOR
from strongroom.web.core_events import CoreEvent, Data, Record
from strongroom.web.feature import Feature

_INVITATION: Final = text("invitationId", "The invitation")
_FIELDS: Final = (TENANT, _INVITATION, ROLE, ACTOR)


class InvitationsFeature(Feature):
    """Invitations to tenants."""

    blueprints = ("views:blueprint",)
    services = "services:InvitationServices"

    silent_actions: ClassVar = {("invitation.resend", SUCCESS): "the invitation was there before"}

    def register_event_types(self) -> Iterable[CoreEvent]:
        yield server_event(
            "invitation.created",
            "An e-mail address or a mobile number was invited to a tenant.",
            _FIELDS,
            on("invitation.create", _invitation),
        )
        yield server_event(
            "invitation.deleted",
            "An invitation was withdrawn.",
            _FIELDS,
            on("invitation.delete", _invitation),
        )
        yield server_event(
            "invitation.accepted",
            "A user became a member by an invitation.",
            (TENANT, _INVITATION, USER, ROLE, ACTOR),
            on("invitation.accept", _invitation),
        )
        yield server_event(
            "invitation.declined",
            "A user declined an invitation.",
            _FIELDS,
            on("invitation.decline", _invitation),
        )


def _invitation(record: Record) -> Data:
    user = {"userId": record.details["user"]} if "user" in record.details else {}
    return {
        "tenantId": record.target_id,
        "invitationId": record.details["invitation"],
        "role": record.details["role"],
        **user,
        **actor_data(record),
    }
