"""Removes all files and folders of a tenant in batches."""

from typing import Final

from sqlalchemy import bindparam, delete, exists, select

from strongroom.database import Database
from strongroom.database.statements import Statement
from strongroom.files.models import nodes
from strongroom.storage.models import Released
from strongroom.storage.service import BlobService

_BATCH: Final = 500

_CHILD: Final = nodes.alias()
# Nodes without children, so that content is deleted before its folder.
_LEAVES: Final = Statement(
    select(nodes.c.id, nodes.c.blob_key)
    .where(
        nodes.c.tenant_id == bindparam("tenant_id"),
        ~exists().where(_CHILD.c.parent_id == nodes.c.id),
    )
    .limit(_BATCH)
)
_REMOVE: Final = Statement(delete(nodes).where(nodes.c.id.in_(bindparam("node_ids", expanding=True))))


class FilePurge:
    """Removes all files and folders of a tenant.

    Args:
        database: stores the nodes.
        blobs: stores file content.
    """

    def __init__(self, database: Database, blobs: BlobService) -> None:
        self._database = database
        self._blobs = blobs

    def remove_all(self, tenant_id: str) -> None:
        """Remove all nodes of a tenant with their grants, and their blobs.

        Each batch is a separate transaction. Blobs that cannot be removed now are left to the blob
        garbage collection.
        """
        # Content is removed only after its batch is committed, so a rollback loses nothing.
        while (released := self._remove_batch(tenant_id)) is not None:
            self._blobs.remove(released)

    def _remove_batch(self, tenant_id: str) -> list[Released] | None:
        with self._database.write() as connection:
            rows = _LEAVES.all(connection, {"tenant_id": tenant_id})
            if not rows:
                return None
            _REMOVE.execute(connection, {"node_ids": [row.id for row in rows]})
            return self._blobs.release(connection, [row.blob_key for row in rows if row.blob_key])
