"""Removes nodes with their subtrees, to the trash or permanently."""

from dataclasses import KW_ONLY, dataclass

from sqlalchemy import Connection

from strongroom.content.nodes.events import FileAction, FileEvents
from strongroom.content.nodes.file_erasers import FileErasers
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.removals import RemovalRecords
from strongroom.content.nodes.trash import Trash
from strongroom.content.nodes.tree import Tree
from strongroom.content.scanning.states import QUARANTINED
from strongroom.content.storage.models import Released
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.quota import Quota
from strongroom.foundation.caller import AnyCaller, Override


@dataclass(slots=True, eq=False, repr=False)
class NodeRemoval:
    """Removes nodes within the caller's transaction, with the usage of their tenants and the records.

    Args:
        keeps_deleted: whether deleted nodes go to the trash; otherwise deletions are final.
    """

    _tree: Tree
    _trash: Trash
    _guard: RemovalGuard
    _quota: Quota
    _blobs: BlobService
    _events: FileEvents
    _removals: RemovalRecords
    _erasers: FileErasers
    _: KW_ONLY
    keeps_deleted: bool

    def discard(self, connection: Connection, caller: AnyCaller, node: Node) -> list[Released]:
        """Move a node with its subtree to the trash, or :meth:`remove` it if deletions are final.

        The trash never receives a file in quarantine.

        Raises:
            FileHeld: a hold covers the node, or a node in its subtree.
            FileRetained: deletions are final, and content in the subtree is retained.
        """
        if not self.keeps_deleted or node.scan in QUARANTINED:
            return self.remove(connection, caller, node)
        self._guard.require_detachable(connection, node)
        self._trash.add(connection, caller, node)
        # Clients find the node nowhere from now on, so for them it is deleted.
        self._events.record(connection, FileAction.DELETED, caller, node)
        return []

    def remove(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        override: Override | None = None,
        *,
        heeds_locks: bool = True,
    ) -> list[Released]:
        """Remove a node with its subtree; return the blobs that are no longer referenced.

        Raises:
            FileLocked: a lock covers the node, or a node in its subtree, and is heeded.
            FileHeld: a hold covers the node, or a node in its subtree.
            FileRetained: content in the subtree is retained, and the override is not permitted.
        """
        self._guard.require_removable(connection, node, override)
        removed = self._tree.remove(connection, caller, node, heeds_locks=heeds_locks)
        if node.trash_id is not None:
            self._trash.shrink(connection, node.trash_id, removed.size)
        self._erasers.erase(connection, node.tenant_id, removed.node_ids)
        self._quota.use(connection, node.tenant_id, -removed.size - removed.versions_size)
        released = self._blobs.release(connection, removed.blob_keys)
        self._removals.record(connection, FileAction.DELETED, caller, [node])
        return released
