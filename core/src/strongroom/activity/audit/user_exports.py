"""What the archive of a user's data has of the audit log."""

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import bindparam, select

from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.sealing import seal
from strongroom.foundation.database import Database
from strongroom.foundation.database.user_rows import UserRows
from strongroom.plugin_api.exports import UserExport

_EVENTS: Final = UserRows(
    select(
        audit_events.c.at,
        audit_events.c.action,
        audit_events.c.outcome,
        audit_events.c.target_type.label("targetType"),
        audit_events.c.target_id.label("targetId"),
        audit_events.c.address,
        audit_events.c.user_agent.label("userAgent"),
    )
    .where(audit_events.c.actor_id == bindparam("of_user"))
    .order_by(audit_events.c.sequence)
)
"""Without details, which may have data about others."""


def audit_exports(database: Database) -> list[UserExport]:
    """Return the file of what the user has done."""
    rows = _EVENTS.bind(database)

    def read(user_id: str) -> Iterator[dict[str, Any]]:
        seal(database)
        yield from rows(user_id)

    return [UserExport("audit-events", "What you have done, from the audit log", read)]
