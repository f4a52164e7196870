"""What the archive of a user's data has of the logins."""

from typing import Final

from sqlalchemy import bindparam, select

from strongroom.foundation.database import Database
from strongroom.foundation.database.user_rows import UserRows
from strongroom.identity.sessions.models import authorizations
from strongroom.plugin_api.exports import UserExport

_LOGINS: Final = UserRows(
    select(
        authorizations.c.id,
        authorizations.c.method,
        authorizations.c.client_name.label("client"),
        authorizations.c.device_id.label("device"),
        authorizations.c.address,
        authorizations.c.user_agent.label("userAgent"),
        authorizations.c.created_at.label("createdAt"),
        authorizations.c.last_seen_at.label("lastSeenAt"),
        authorizations.c.expires_at.label("expiresAt"),
        authorizations.c.revoked_at.label("revokedAt"),
    )
    .where(authorizations.c.user_id == bindparam("of_user"))
    .order_by(authorizations.c.created_at, authorizations.c.id)
)


def login_exports(database: Database) -> list[UserExport]:
    """Return the file of the logins, including those that ended lately."""
    return [UserExport("logins", "Your logins, with devices and addresses", _LOGINS.bind(database))]
