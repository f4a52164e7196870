"""Moves and renames files and folders."""

from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeAccess, NodeView
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.events import FileAction
from strongroom.content.nodes.expiry import ExpiryRules
from strongroom.content.nodes.file_writer import FileWriter, Prepare, prepare_nothing
from strongroom.content.nodes.models import Node, NodeType
from strongroom.content.nodes.names import normalize_name
from strongroom.content.nodes.node_removal import NodeRemoval
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.tree import Tree, require_revision
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.errors import MoveIntoItself


@dataclass(frozen=True, slots=True)
class Move:
    """Destination of a move.

    Args:
        parent_id: the new parent folder; ``None`` is the top level.
        name: the new name; ``None`` keeps the old one.
        on_conflict: the rule for a taken name: fail, append a number, or replace a file by a file, for
            which the caller must manage the replaced file.
    """

    parent_id: str | None
    name: str | None
    on_conflict: OnConflict = OnConflict.FAIL


@dataclass(slots=True, eq=False, repr=False)
class MovingService:
    """Moves and renames files and folders."""

    _database: Database
    _access: AccessControl
    _expiry: ExpiryRules
    _tree: Tree
    _file_writer: FileWriter
    _removal: NodeRemoval
    _guard: RemovalGuard

    def rename(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        name: str,
        revision: int | None,
        on_conflict: OnConflict = OnConflict.FAIL,
        prepare: Prepare = prepare_nothing,
    ) -> NodeView:
        """Rename a node.

        Args:
            prepare: called first, in the same transaction.

        Raises:
            ValidationFailed: the name is invalid.
            Forbidden: the caller is not a member of the tenant, or may not write to the node.
            NotFound: the tenant has no such node.
            NameConflict: the name is taken.
            RevisionConflict: the node has changed since the given revision.
        """
        name = normalize_name(name)
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            prepare(connection)
            view = self._access.require(connection, caller, tenant_id, node_id, operations.RENAME)
            require_revision(view.node, revision)
            parent_id = view.node.parent_id or tenant_id
            renamed = self._move(connection, caller, view.node, parent_id, name, on_conflict)
            return NodeView(renamed, view.permission)

    def move(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        request: Move,
        revision: int | None,
        prepare: Prepare = prepare_nothing,
    ) -> NodeView:
        """Move a node with its subtree into another folder or to the top level, or rename it.

        A move into its own folder is a rename, and needs only what a rename needs.

        Grants on the node and below it remain. Grants on the folders it leaves no longer apply to it, so
        the caller may lose access as well.

        Args:
            prepare: called first, in the same transaction.

        Raises:
            ValidationFailed: the name is invalid.
            Forbidden: the caller is not a member of the tenant, may not write to the node, or, for
                another folder, does not manage the node, may not write to the folder, or gains a
                permission by the move that would outlast the caller's own.
            InsufficientScope: the caller's access key may rename, but not move.
            NotFound: the tenant has no such node, or no such folder.
            NotAFolder: the new parent is a file.
            MoveIntoItself: the new parent lies within the moved folder.
            NameConflict: the name is taken.
            RevisionConflict: the node has changed since the given revision.
            FileHeld: a hold on a folder would cease to cover the node.
        """
        with self._database.write() as connection:
            # All changes of the shape of a tenant's tree take this lock, so the checks below hold
            # until the commit.
            self._access.memberships.lock_tenant(connection, tenant_id)
            prepare(connection)
            return self.move_within(connection, caller, tenant_id, node_id, request, revision)

    def move_within(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        request: Move,
        revision: int | None,
    ) -> NodeView:
        """Do the same as :meth:`move` in the caller's transaction, which holds the tenant lock."""
        name = None if request.name is None else normalize_name(request.name)
        access = self._access.find(connection, caller, tenant_id, node_id)
        node = access.require(operations.RENAME).node
        # A rename leaves the node under the same grants, so it changes no permission.
        is_move = request.parent_id != (None if node.parent_id == tenant_id else node.parent_id)
        if is_move:
            _require_move(caller, access)
        require_revision(node, revision)
        if is_move:
            self._require_target(connection, caller, access, node, request.parent_id)
        parent_id = request.parent_id or tenant_id
        moved = self._move(connection, caller, node, parent_id, name or node.name, request.on_conflict)
        # The move may have changed the caller's permission, unless it comes from the role alone.
        if access.role is Role.ADMIN and caller.key is None:
            return NodeView(moved, access.permission)
        after = self._access.find(connection, caller, tenant_id, node_id)
        return NodeView(moved, after.permission)

    def _require_target(
        self,
        connection: Connection,
        caller: AnyCaller,
        access: NodeAccess,
        node: Node,
        parent_id: str | None,
    ) -> None:
        """Check that a node may be moved to a folder, or to the top level."""
        if parent_id is None:
            access.require_top_level()
        else:
            self._access.require_parent(connection, caller, node.tenant_id, parent_id)
            # Checked under the tenant lock, so that two concurrent moves cannot create a cycle.
            if node.type == NodeType.FOLDER and self._tree.is_within(connection, parent_id, node.id):
                raise MoveIntoItself
        target_id = parent_id or node.tenant_id
        self._guard.require_movable(connection, node, target_id)
        # The permission of administrators does not expire, so no permission can outlast it.
        if access.role is not Role.ADMIN:
            self._expiry.require_movable(connection, caller, node, target_id)

    def _move(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        parent_id: str,
        name: str,
        on_conflict: OnConflict,
    ) -> Node:
        if (parent_id, name) == (node.parent_id, node.name):
            return node
        name = self.resolve_conflict(connection, caller, node, parent_id, name, on_conflict)
        moved = self._tree.move(connection, caller, node, parent_id, name)
        if parent_id == node.parent_id:
            self._file_writer.events.record(connection, FileAction.RENAMED, caller, moved)
        else:
            self._file_writer.events.record(
                connection, FileAction.MOVED, caller, moved, previous_parent_id=node.parent_id
            )
        return moved

    def resolve_conflict(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        parent_id: str,
        name: str,
        on_conflict: OnConflict,
    ) -> str:
        """Return the name that a node gets in a folder, and discard the file that it replaces.

        Folders neither replace nor are replaced. The name may still be taken.

        Raises:
            Forbidden: the caller does not manage the replaced file.
        """
        hidden, place = self._file_writer.destinations.hidden_names, (node.tenant_id, parent_id)
        if on_conflict is OnConflict.RENAME or hidden.has(connection, caller, place, name):
            return self._tree.free_name(connection, parent_id, name)
        if on_conflict is OnConflict.FAIL:
            return name
        # The replaced file goes to the trash like a deleted one, so replacing needs the same
        # permission as deleting.
        sibling = self._tree.find_child(connection, parent_id, name)
        replaces = (
            sibling is not None and sibling.id != node.id and sibling.type == node.type == NodeType.FILE
        )
        if sibling is not None and replaces:
            self._access.require(connection, caller, sibling.tenant_id, sibling.id, operations.DELETE)
            self._removal.discard(connection, caller, sibling)
        return name


def _require_move(caller: AnyCaller, access: NodeAccess) -> None:
    # The route of a move also renames, so it accepts the access keys that may rename.
    if caller.identity is not None:
        caller.identity.require_scope(operations.MOVE)
    access.require(operations.MOVE)
