"""Changes the tree of nodes within the caller's transaction, unless a lock forbids it.

Permissions are checked by the caller.
"""

from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    cast,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock, next_revision
from strongroom.content.nodes import child_counts, name_index
from strongroom.content.nodes.grant_copies import copied_columns, update_copies
from strongroom.content.nodes.locks import NodeLocks
from strongroom.content.nodes.models import (
    FOREVER,
    NODE,
    Node,
    NodeType,
    Permission,
    folders_around,
    grants,
    node_versions,
    nodes,
    subtree,
)
from strongroom.content.nodes.names import numbered
from strongroom.content.nodes.visibility import Visibility
from strongroom.foundation.cache import BuiltOnce
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.collation import sort_key
from strongroom.foundation.database import long_statements
from strongroom.foundation.database.changes import Change
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import NameConflict, NotFound, RevisionConflict
from strongroom.foundation.ids import new_id

_MAX_NUMBER: Final = 1 << 20


def _is_within() -> Select[Any]:
    path = folders_around()
    return select(path.c.id).where(path.c.id == bindparam("folder_id"))


_IS_WITHIN: Final = Statement(_is_within())
_CHILD: Final = Statement(
    select(nodes).where(nodes.c.parent_id == bindparam("parent_id"), nodes.c.name == bindparam("name")),
    NODE,
)
_OF_ID: Final = Statement(
    select(nodes).where(nodes.c.id == bindparam("of_id"), nodes.c.tenant_id == bindparam("of_tenant")),
    NODE,
)
_ADD_UNLESS_THERE: Final = Statement(
    for_each_dialect(nodes, lambda insert: insert.on_conflict_do_nothing())
)
_GRANT: Final = Statement(insert(grants))
# Comparing the revision detects a concurrent change since the node was read.
_CHANGE: Final = Statement(
    update(nodes)
    .where(nodes.c.id == bindparam("of_id"), nodes.c.revision == bindparam("of_revision"))
    .values({name: bindparam(f"new_{name}") for name in NODE.names})
)


@BuiltOnce
def within_subtree() -> ColumnElement[bool]:
    """Return the condition that a node is ``node_id`` or one of its descendants."""
    return nodes.c.id.in_(select(subtree().c.id))


_SUBTREE: Final = Statement(select(nodes.c.id, nodes.c.blob_key, nodes.c.size).where(within_subtree()))
_VERSIONS_WITHIN: Final = Statement(
    select(node_versions.c.blob_key, node_versions.c.size)
    .join(nodes, nodes.c.id == node_versions.c.node_id)
    .where(within_subtree())
)
_REMOVE: Final = Statement(delete(nodes).where(within_subtree()))
_SET_TRASH: Final = Statement(
    update(nodes).where(within_subtree()).values(trash_id=bindparam("of_trash"))
)
_OF_TRASH: Final = nodes.c.trash_id == bindparam("of_trash")
_CLEAR_TRASH: Final = Statement(update(nodes).where(_OF_TRASH).values(trash_id=None))
_SIZE: Final = Statement(
    select(cast(func.coalesce(func.sum(nodes.c.size), 0), BigInteger)).where(_OF_TRASH)
)


@dataclass(frozen=True, slots=True)
class ParentRef:
    """Parent of a new node.

    Args:
        parent_id: the parent folder: the tenant's root for a top-level node.
        visible_until: when the creator's grants on the parent and its ancestors expire; 0 without any.
        writable_until: when the creator's permission to write to the parent expires.
        has_locks: whether anything in the tenant may be locked.
    """

    tenant_id: str
    parent_id: str
    visible_until: int = 0
    writable_until: int = FOREVER
    has_locks: bool = True


@dataclass(frozen=True, slots=True)
class FileContent:
    """Content of a file: blob key, size in bytes, media type, SHA-256 in hexadecimal, and scan state."""

    blob_key: str
    size: int
    content_type: str
    checksum: str
    scan: str | None = None


@dataclass(frozen=True, slots=True)
class RemovedSubtree:
    """Nodes, blobs and total sizes of a removed subtree: its files, and their versions. In bytes."""

    node_ids: tuple[str, ...]
    blob_keys: tuple[str, ...]
    size: int
    versions_size: int


@dataclass(slots=True, eq=False, repr=False)
class Tree:
    """Creates, moves, changes and removes nodes, which the caller may not have locked for others.

    Each change of nodes that exist raises ``FileLocked`` if a lock forbids it.
    """

    _clock: Clock
    _visibility: Visibility
    locks: NodeLocks

    def add_root(self, connection: Connection, tenant_id: str, user_id: str) -> None:
        """Create the tenant's root node, unless another transaction has created it."""
        now = self._clock.now()
        root = Node(
            tenant_id, tenant_id, None, NodeType.FOLDER, "", None, 0, None, None, user_id, now, now, now
        )
        _ADD_UNLESS_THERE.execute(connection, NODE.values(root))

    def find_child(self, connection: Connection, parent_id: str, name: str) -> Node | None:
        """Return the node with a name in a folder, or ``None``."""
        return _CHILD.first(connection, {"parent_id": parent_id, "name": name})

    def add(
        self,
        connection: Connection,
        caller: AnyCaller,
        place: ParentRef,
        name: str,
        content: FileContent | None,
    ) -> Node:
        """Create a file, or without content a folder, in a folder.

        The caller is granted ``manage`` for as long as the caller may write to the folder.

        Raises:
            NameConflict: the name is taken.
            NotFound: the folder was deleted concurrently.
        """
        if place.has_locks:
            self.locks.require(connection, caller, place.tenant_id, [place.parent_id])
        now = self._clock.now()
        node = Node(
            id=new_id(),
            tenant_id=place.tenant_id,
            parent_id=place.parent_id,
            type=NodeType.FILE if content else NodeType.FOLDER,
            name=name,
            blob_key=content.blob_key if content else None,
            size=content.size if content else 0,
            content_type=content.content_type if content else None,
            checksum=content.checksum if content else None,
            owner_id=caller.user_id,
            created_at=now,
            updated_at=now,
            revision=now,
            scan=content.scan if content else None,
            sort_key=sort_key(name),
        )
        # The foreign key fails if the parent was deleted concurrently.
        try:
            if not _ADD_UNLESS_THERE.execute(connection, NODE.values(node)):
                raise NameConflict.of_taken_name()
        except IntegrityError as error:
            raise NotFound from error
        child_counts.added(connection, node)
        name_index.put(connection, node, [_grant_to_creator(node, place)])
        return node

    def add_numbered(
        self,
        connection: Connection,
        caller: AnyCaller,
        place: ParentRef,
        name: str,
        content: FileContent | None,
    ) -> Node:
        """Do the same as :meth:`add`, under "name" or a free one of "name (1)", "name (2)"..."""
        free = self.free_name(connection, place.parent_id, name)
        return self.add(connection, caller, place, free, content)

    def free_name(self, connection: Connection, parent_id: str, name: str) -> str:
        """Return the name if it is free in a folder, otherwise a free name with a number.

        Doubling and then binary search find a free number whose predecessor is taken, because a folder
        may contain very many numbered names. Without gaps, it is the lowest free number.

        Raises:
            NameConflict: about a million numbered names are taken.
        """

        def is_free(number: int) -> bool:
            candidate = numbered(name, number) if number else name
            return self.find_child(connection, parent_id, candidate) is None

        if is_free(0):
            return name
        taken, free = 0, 1
        while not is_free(free):
            taken, free = free, 2 * free
            if free > _MAX_NUMBER:
                raise NameConflict
        while free - taken > 1:
            middle = (taken + free) // 2
            taken, free = (taken, middle) if is_free(middle) else (middle, free)
        return numbered(name, free)

    def is_within(self, connection: Connection, node_id: str, folder_id: str) -> bool:
        """Return whether a node is the given folder or one of its descendants."""
        parameters = {"node_id": node_id, "folder_id": folder_id}
        return _IS_WITHIN.first(connection, parameters) is not None

    def move(
        self, connection: Connection, caller: AnyCaller, node: Node, parent_id: str, name: str
    ) -> Node:
        """Change the parent folder or the name of a node, or both. Its descendants are not changed.

        Raises:
            NameConflict: the name is taken in the folder.
            RevisionConflict: the node has changed since it was read.
        """
        places = {node.parent_id or node.tenant_id, parent_id}
        self.locks.require(connection, caller, node.tenant_id, [node.id, *places], node)
        # The tenant lock prevents a race between this check and the update.
        if self.find_child(connection, parent_id, name) is not None:
            raise NameConflict.of_taken_name()
        # Read before the change, because the old ancestors cannot be found afterwards. Nothing is below
        # a file, and a rename leaves the ancestors.
        is_folder_moved = parent_id != node.parent_id and node.type == NodeType.FOLDER
        seen_before = self._visibility.untils(connection, node.id) if is_folder_moved else None
        changed = self._change(connection, node, parent_id=parent_id, name=name)
        if name != node.name:
            name_index.put(connection, changed)
        # A rename changes the counts, too: they are kept for each range of names.
        child_counts.taken_out(connection, node)
        child_counts.added(connection, changed)
        if parent_id != node.parent_id:
            # Grants on the old and the new ancestors differ.
            self._visibility.moved(connection, changed.tenant_id, node.id, seen_before)
        return changed

    def find(self, connection: Connection, tenant_id: str, node_id: str) -> Node | None:
        """Return a node of a tenant, in the trash or not, or ``None``."""
        return _OF_ID.first(connection, {"of_id": node_id, "of_tenant": tenant_id})

    def detach(self, connection: Connection, caller: AnyCaller, node: Node, trash_id: str) -> int:
        """Take a node with its subtree out of the tree, into the trash; return its size in bytes.

        This ends the locks in the subtree.

        Raises:
            RevisionConflict: the node has changed since it was read.
        """
        if self._require_removable(connection, caller, node):
            self.locks.end_within(connection, node)
        of_entry, is_folder = {"node_id": node.id, "of_trash": trash_id}, node.type == NodeType.FOLDER
        with long_statements(connection, wanted=is_folder):
            self._visibility.hide(connection, node.id)
            # Nothing is below a file.
            if is_folder:
                _SET_TRASH.execute(connection, of_entry)
            # After the statement above, which descends from the node and sets it as well.
            self._change(connection, node, parent_id=None, trash_id=trash_id)
            child_counts.taken_out(connection, node)
            size: int = _SIZE.scalar(connection, of_entry) if is_folder else node.size
            return size

    def attach(
        self, connection: Connection, caller: AnyCaller, node: Node, parent_id: str, name: str
    ) -> Node:
        """Put a detached node with its subtree into a folder.

        Raises:
            NameConflict: the name is taken in the folder.
            RevisionConflict: the node has changed since it was read.
        """
        self.locks.require(connection, caller, node.tenant_id, [parent_id])
        if self.find_child(connection, parent_id, name) is not None:
            raise NameConflict.of_taken_name()
        changed = self._change(connection, node, parent_id=parent_id, name=name, trash_id=None)
        child_counts.added(connection, changed)
        is_folder = node.type == NodeType.FOLDER
        with long_statements(connection, wanted=is_folder):
            if is_folder:
                _CLEAR_TRASH.execute(connection, {"of_trash": node.trash_id})
            self._visibility.reveal(connection, node.id, is_folder=is_folder)
        return changed

    def replace_content(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        content: FileContent,
        *,
        archives: bool = False,
    ) -> Node:
        """Replace the content of a file.

        Args:
            connection: the caller's transaction.
            archives: whether the old content becomes a version.

        Raises:
            RevisionConflict: the file has changed since it was read.
        """
        self.locks.require(connection, caller, node.tenant_id, [node.id])
        versions = (node.versions or 0) + 1 if archives else node.versions
        changed = self._change(connection, node, **asdict(content), versions=versions)
        child_counts.changed(connection, node, changed)
        return changed

    def remove(
        self, connection: Connection, caller: AnyCaller, node: Node, *, heeds_locks: bool = True
    ) -> RemovedSubtree:
        """Remove a node with its subtree; foreign keys delete the grants, child counts and locks."""
        if heeds_locks:
            self._require_removable(connection, caller, node)
        subtree = {"node_id": node.id}
        # Read before the removal, because the blobs are released and the quota is corrected by these
        # rows.
        subtree_rows = _SUBTREE.all(connection, subtree)
        versions = _VERSIONS_WITHIN.all(connection, subtree)
        _REMOVE.execute(connection, subtree)
        child_counts.taken_out(connection, node)
        blob_keys = [row.blob_key for row in (*subtree_rows, *versions) if row.blob_key is not None]
        sizes = [sum(row.size for row in rows) for rows in (subtree_rows, versions)]
        return RemovedSubtree(tuple(row.id for row in subtree_rows), tuple(blob_keys), *sizes)

    def _require_removable(self, connection: Connection, caller: AnyCaller, node: Node) -> bool:
        """Check that no lock forbids a removal; return whether anything in the tenant is locked."""
        # What is in the trash is in no folder, and has no locks.
        if node.trash_id is not None:
            return False
        around = [node.id, node.parent_id or node.tenant_id]
        return self.locks.require(connection, caller, node.tenant_id, around, node)

    def _change(self, connection: Connection, node: Node, **values: Any) -> Node:
        now = self._clock.now()
        revision = next_revision(node.revision, now)
        changed = node._replace(**values, updated_at=now, revision=revision)
        # Also of an unchanged name, because servers of the version before leave the key as it was.
        changed = changed._replace(sort_key=sort_key(changed.name))
        replaced = {f"new_{name}": value for name, value in NODE.values(changed).items()}
        read = {"of_id": node.id, "of_revision": node.revision}
        if _CHANGE.execute(connection, {**replaced, **read}) != 1:
            raise RevisionConflict
        update_copies(connection, changed)
        return changed


def _grant_to_creator(node: Node, place: ParentRef) -> Change:
    # The creator's grant ends with the permission to write to the folder; see files/expiry.py.
    row = {
        "node_id": node.id,
        "user_id": node.owner_id,
        "tenant_id": node.tenant_id,
        "permission": int(Permission.MANAGE),
        "granted_by": node.owner_id,
        "expires_at": None if place.writable_until == FOREVER else place.writable_until,
        "created_at": node.created_at,
        **copied_columns(node),
        "parent_visible_until": None if place.visible_until == FOREVER else place.visible_until,
    }
    return Change(_GRANT, row)


def require_revision(node: Node, revision: int | None) -> None:
    """Check that a node still has the given revision; ``None`` skips the check.

    Raises:
        RevisionConflict: the node has changed since.
    """
    if revision is not None and revision != node.revision:
        raise RevisionConflict
