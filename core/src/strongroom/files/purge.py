"""Removes all files and folders of a tenant in batches."""

from typing import Final

from sqlalchemy import Select, delete, exists, select

from strongroom.database import Database
from strongroom.files.models import nodes
from strongroom.storage.models import Released
from strongroom.storage.service import BlobService

_BATCH: Final = 500


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
        query = _leaves(tenant_id)
        # Content is removed only after its batch is committed, so a rollback loses nothing.
        while (released := self._remove_batch(query)) is not None:
            self._blobs.remove(released)

    def _remove_batch(self, query: Select[tuple[str, str | None]]) -> list[Released] | None:
        with self._database.write() as connection:
            rows = connection.execute(query).all()
            if not rows:
                return None
            connection.execute(delete(nodes).where(nodes.c.id.in_([row.id for row in rows])))
            return self._blobs.release(connection, [row.blob_key for row in rows if row.blob_key])


def _leaves(tenant_id: str) -> Select[tuple[str, str | None]]:
    """Return the query for nodes without children, so that content is deleted before its folder."""
    child = nodes.alias()
    is_empty = ~exists().where(child.c.parent_id == nodes.c.id)
    query = select(nodes.c.id, nodes.c.blob_key).where(nodes.c.tenant_id == tenant_id, is_empty)
    return query.limit(_BATCH)
