"""What the archive of a user's data has of business files."""

from typing import Final

from sqlalchemy import bindparam, select

from strongroom.extensions.business_files.models import business_files
from strongroom.foundation.database import Database
from strongroom.foundation.database.user_rows import UserRows
from strongroom.plugin_api.exports import UserExport

_FILES: Final = UserRows(
    select(
        business_files.c.name,
        business_files.c.profile,
        business_files.c.size,
        business_files.c.content_type.label("contentType"),
        business_files.c.created_at.label("createdAt"),
    )
    .where(business_files.c.owner_id == bindparam("of_user"))
    .order_by(business_files.c.created_at)
)


def business_file_exports(database: Database) -> list[UserExport]:
    """Return the file with the names of the user's business files."""
    return [UserExport("business-files", "Pictures and files of products", _FILES.bind(database))]
