"""The event of a passkey that may have a copy."""

from typing import Final

from strongroom.plugin_api.events import ACTOR, AuditedEvent, EventField, EventType
from strongroom_login_passkey.factor import COUNTER_REGRESSED

REGRESSED: Final = AuditedEvent(
    COUNTER_REGRESSED,
    EventType(
        "passkey.counter_regressed",
        "An answer of a passkey was refused, because its counter went back: there may be a copy.",
        (EventField("userId", "The user", {"type": "string"}), ACTOR),
        is_of_tenant_stream=False,
    ),
)
