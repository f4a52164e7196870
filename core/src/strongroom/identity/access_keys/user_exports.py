"""What the archive of a user's data has of the access keys."""

from typing import Final

from sqlalchemy import bindparam, select

from strongroom.foundation.database import Database
from strongroom.foundation.database.user_rows import UserRows
from strongroom.identity.access_keys.models import access_keys
from strongroom.plugin_api.exports import UserExport

_KEYS: Final = UserRows(
    select(
        access_keys.c.id,
        access_keys.c.name,
        access_keys.c.scopes,
        access_keys.c.tenant_id.label("tenantId"),
        access_keys.c.folder_id.label("folderId"),
        access_keys.c.addresses,
        access_keys.c.created_at.label("createdAt"),
        access_keys.c.expires_at.label("expiresAt"),
        access_keys.c.last_used_at.label("lastUsedAt"),
        access_keys.c.last_used_from.label("lastUsedFrom"),
    )
    .where(access_keys.c.user_id == bindparam("of_user"))
    .order_by(access_keys.c.created_at, access_keys.c.id)
)


def key_exports(database: Database) -> list[UserExport]:
    """Return the file of the access keys."""
    title = "Your access keys, without secrets"
    # The names, scopes and addresses of keys are the user's own.
    return [UserExport("access-keys", title, _KEYS.bind(database), members_only=False)]
