"""What the archive of a user's data has of files and folders."""

from typing import Final

from sqlalchemy import bindparam, select

from strongroom.content.nodes.attributes import node_attributes
from strongroom.content.nodes.models import nodes
from strongroom.foundation.database import Database
from strongroom.foundation.database.user_rows import UserRows
from strongroom.plugin_api.exports import UserExport

# In the order of the rows, because a sort of millions of files would take long.
_FILES: Final = UserRows(
    select(
        nodes.c.id,
        nodes.c.tenant_id.label("tenantId"),
        nodes.c.parent_id.label("parentId"),
        nodes.c.type,
        nodes.c.name,
        nodes.c.size,
        nodes.c.content_type.label("contentType"),
        nodes.c.created_at.label("createdAt"),
        nodes.c.updated_at.label("updatedAt"),
        nodes.c.trash_id.is_not(None).label("inTrash"),
    ).where(nodes.c.owner_id == bindparam("of_user"), nodes.c.id != nodes.c.tenant_id)
)
_ATTRIBUTES: Final = UserRows(
    select(
        nodes.c.tenant_id.label("tenantId"),
        node_attributes.c.node_id.label("fileId"),
        node_attributes.c.plugin,
        node_attributes.c.name,
        node_attributes.c.value,
    )
    .join_from(node_attributes, nodes)
    .where(nodes.c.owner_id == bindparam("of_user"))
)


def file_exports(database: Database) -> list[UserExport]:
    """Return the files with the names of the user's files and folders, and with their attributes."""
    names = "The names of your files and folders, without content"
    attributes = "What applications have stored about your files and folders"
    return [
        UserExport("files", names, _FILES.bind(database)),
        UserExport("file-attributes", attributes, _ATTRIBUTES.bind(database)),
    ]
