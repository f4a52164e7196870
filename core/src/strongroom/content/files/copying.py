"""Copies files and folders without copying bytes: the copy of a file refers to the same blob.

A blob never changes, and is discarded with its last reference, so copies are independent of each other.
Both ends are in one tenant, because storages may encrypt each tenant's objects by a key of its own, and
the tenant lock orders copies and deletions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, literal, literal_column, select

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView, get_ceiling
from strongroom.content.nodes.attributes import copy_attributes
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.events import FileAction
from strongroom.content.nodes.file_writer import FileWriter, Prepare, prepare_nothing
from strongroom.content.nodes.models import NODE, Node, NodeType, nodes
from strongroom.content.nodes.names import normalize_name
from strongroom.content.nodes.tree import FileContent, ParentRef, Tree
from strongroom.content.nodes.upload_rules import require_allowed_type
from strongroom.content.tenants.quota import Quota
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import MoveIntoItself, NameConflict, TooManyNodes

MAX_NODES: Final = 1000
"""Number of files and folders that are copied at once: a copy is one transaction."""


@dataclass(slots=True)
class NodeBudget:
    """The number of nodes that a transaction may still copy."""

    remaining: int = field(default_factory=lambda: MAX_NODES)

    def spend(self, count: int) -> None:
        """Subtract copied nodes.

        Raises:
            TooManyNodes: so many may not be copied.
        """
        if count > self.remaining:
            raise TooManyNodes
        self.remaining -= count


@dataclass(frozen=True, slots=True)
class Copy:
    """Destination of a copy.

    Args:
        parent_id: the folder; ``None`` is the top level.
        name: the name; ``None`` is the original's.
        on_conflict: the rule for a taken name: fail, append a number, or replace a file by a file.
    """

    parent_id: str | None
    name: str | None = None
    on_conflict: OnConflict = OnConflict.FAIL


def _subtree() -> Select[Any]:
    start = select(nodes.c.id, literal(0).label("depth")).where(nodes.c.id == bindparam("node_id"))
    below = start.cte("below", recursive=True)
    child = nodes.alias()
    step = select(child.c.id, below.c.depth + 1).join(below, child.c.parent_id == below.c.id)
    below = below.union_all(step)
    # Folders come before their content.
    rows = select(nodes).join(below, below.c.id == nodes.c.id).order_by(below.c.depth, nodes.c.id)
    return rows.limit(literal_column(str(MAX_NODES + 1)))


_SUBTREE: Final = Statement(lambda _: _subtree(), NODE)


@dataclass(slots=True, eq=False, repr=False)
class CopyingService:
    """Copies files and folders within a tenant."""

    _database: Database
    _access: AccessControl
    _tree: Tree
    _file_writer: FileWriter
    _quota: Quota

    def copy(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        request: Copy,
        prepare: Prepare = prepare_nothing,
    ) -> NodeView:
        """Copy a file, or a folder with its content, into a folder or to the top level.

        The caller owns the copies. Grants are not copied; attributes and scan states are, because the
        content is the same.

        Args:
            prepare: called first, in the same transaction.

        Raises:
            ValidationFailed: the name is invalid.
            Forbidden: the caller is not a member of the tenant, may not read the node, or may not write
                to the folder.
            NotFound: the tenant has no such node, or no such folder.
            NotAFolder: the new parent is a file.
            MoveIntoItself: the new parent is the folder itself, or lies within it.
            NameConflict: the name is taken.
            TooManyNodes: the folder contains too many nodes.
            UnsupportedMediaType: the caller may not create files of a type.
            StorageFull: the tenant's quota would be exceeded.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            prepare(connection)
            return self.copy_within(connection, caller, tenant_id, node_id, request, NodeBudget())

    def copy_within(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        request: Copy,
        budget: NodeBudget,
    ) -> NodeView:
        """Do the same as :meth:`copy` in the caller's transaction, which holds the tenant lock."""
        source = self._access.require(connection, caller, tenant_id, node_id, operations.COPY).node
        name = source.name if request.name is None else normalize_name(request.name)
        destinations = self._file_writer.destinations
        place = destinations.parent_ref(connection, caller, tenant_id, request.parent_id)
        if self._is_inside(connection, source, request.parent_id):
            raise MoveIntoItself("A folder cannot be copied into itself or a descendant.")
        hidden, target = destinations.hidden_names, (tenant_id, place.parent_id)
        if request.on_conflict is OnConflict.RENAME or hidden.has(connection, caller, target, name):
            name = self._tree.free_name(connection, place.parent_id, name)
        elif request.on_conflict is OnConflict.REPLACE:
            taken = self._tree.find_child(connection, place.parent_id, name)
            if taken is not None:
                return self._replace(connection, caller, source, taken)
        # Read before the first insertion, so that copies are not copied again.
        originals = _read_subtree(connection, source)
        budget.spend(len(originals))
        return NodeView(self._copy(connection, caller, originals, place, name), get_ceiling(caller))

    def _is_inside(self, connection: Connection, source: Node, parent_id: str | None) -> bool:
        if parent_id is None or source.type != NodeType.FOLDER:
            return False
        return self._tree.is_within(connection, parent_id, source.id)

    def _replace(self, connection: Connection, caller: AnyCaller, source: Node, taken: Node) -> NodeView:
        content = _get_content(caller, source)
        # Folders neither replace nor are replaced.
        if content is None:
            raise NameConflict.of_taken_name()
        return self._file_writer.replace(connection, caller, taken, content)

    def _copy(
        self,
        connection: Connection,
        caller: AnyCaller,
        originals: Sequence[Node],
        place: ParentRef,
        name: str,
    ) -> Node:
        top, *below = originals
        # Copies share the stored bytes, but count in full: each may outlive the other.
        self._quota.use(connection, top.tenant_id, sum(node.size for node in originals))
        copied = self._add(connection, caller, top, place, name)
        ids = {top.id: copied.id}
        # The owner of the copy holds a grant on it, so the nodes below it are visible through it.
        until = max(place.visible_until, place.writable_until)
        for node in below:
            folder_id = ids[node.parent_id or ""]
            # The folder is new, so it has no lock, and the destination was checked with the top.
            parent = ParentRef(node.tenant_id, folder_id, until, place.writable_until, has_locks=False)
            ids[node.id] = self._add(connection, caller, node, parent, node.name).id
        copy_attributes(connection, ids)
        return copied

    def _add(
        self, connection: Connection, caller: AnyCaller, original: Node, place: ParentRef, name: str
    ) -> Node:
        content = _get_content(caller, original)
        node = self._tree.add(connection, caller, place, name, content)
        action = FileAction.CREATED if content else FileAction.FOLDER_CREATED
        self._file_writer.events.record(connection, action, caller, node)
        return node


def _read_subtree(connection: Connection, source: Node) -> list[Node]:
    """Return a node and everything below it, folders before their content; one more than is copied."""
    if source.type == NodeType.FILE:
        return [source]
    return _SUBTREE.all(connection, {"node_id": source.id})


def _get_content(caller: AnyCaller, node: Node) -> FileContent | None:
    """Return the content of a file, ``None`` for a folder."""
    if node.blob_key is None or node.content_type is None or node.checksum is None:
        return None
    require_allowed_type(caller, node.content_type)
    return FileContent(node.blob_key, node.size, node.content_type, node.checksum, node.scan)
