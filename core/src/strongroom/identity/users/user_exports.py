"""What the archive of a user's data has of the user, the contacts and second factors, and metadata."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import BindParameter, Select, bindparam, func, select

from strongroom.foundation.database import Database
from strongroom.foundation.database.user_rows import UserRows
from strongroom.identity.users.consents import consents
from strongroom.identity.users.models import credentials, passwords, second_factors, user_metadata, users
from strongroom.plugin_api.exports import UserExport

_OF_USER: Final[BindParameter[str]] = bindparam("of_user")
_PROFILE: Final = UserRows(
    select(
        users.c.id,
        users.c.type,
        users.c.name,
        users.c.locale,
        users.c.timezone,
        users.c.external_id.label("externalId"),
        users.c.created_at.label("createdAt"),
        users.c.updated_at.label("updatedAt"),
        users.c.last_login_at.label("lastLoginAt"),
        users.c.deletion_due_at.label("deletionDueAt"),
        passwords.c.changed_at.label("passwordChangedAt"),
    )
    .select_from(users.outerjoin(passwords, passwords.c.user_id == users.c.id))
    .where(users.c.id == _OF_USER)
)
_CONTACTS: Final = UserRows(
    select(
        credentials.c.kind,
        func.coalesce(credentials.c.written, credentials.c.value).label("value"),
        credentials.c.is_verified.label("verified"),
        credentials.c.created_at.label("createdAt"),
    )
    .where(credentials.c.user_id == _OF_USER)
    .order_by(credentials.c.created_at, credentials.c.id)
)
_FACTORS: Final = UserRows(
    select(
        second_factors.c.factor.label("kind"),
        second_factors.c.name,
        second_factors.c.is_backup.label("backup"),
        second_factors.c.created_at.label("createdAt"),
        second_factors.c.last_used_at.label("lastUsedAt"),
    )
    .where(second_factors.c.user_id == _OF_USER)
    .order_by(second_factors.c.created_at, second_factors.c.id)
)
_CONSENTS: Final = UserRows(
    select(consents.c.document, consents.c.version, consents.c.accepted_at.label("acceptedAt"))
    .where(consents.c.user_id == _OF_USER)
    .order_by(consents.c.accepted_at, consents.c.version)
)
# Not the metadata that only administrators read.
_METADATA: Final = UserRows(select(user_metadata.c.metadata).where(user_metadata.c.user_id == _OF_USER))


def credentials_query(user_id: BindParameter[str]) -> Select[tuple[str, str]]:
    """Return a query of the kinds and values of a user's proven credentials, for other features."""
    proven = credentials.c.is_verified
    return select(credentials.c.kind, credentials.c.value).where(
        credentials.c.user_id == user_id, proven
    )


def user_exports(database: Database) -> list[UserExport]:
    """Return the files about the user."""
    metadata = _METADATA.bind(database)

    def read_metadata(user_id: str) -> Iterator[Mapping[str, Any]]:
        return (row["metadata"] for row in metadata(user_id))

    return [
        UserExport("profile", "Your profile", _PROFILE.bind(database)),
        UserExport("contacts", "Your addresses, numbers and other accounts", _CONTACTS.bind(database)),
        UserExport("consents", "The terms that you have accepted", _CONSENTS.bind(database)),
        UserExport(
            "second-factors", "Your two-step verification, without secrets", _FACTORS.bind(database)
        ),
        UserExport("metadata", "What applications store in your account", read_metadata),
    ]
