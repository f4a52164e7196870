"""The entries of the trash: adds, finds and removes trashed subtrees within the caller's transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    delete,
    exists,
    func,
    insert,
    select,
    true,
    tuple_,
    update,
)

from strongroom.clock import Clock
from strongroom.content.nodes.models import NODE, Node, nodes, trash
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.tree import Tree
from strongroom.content.nodes.versions import read_contents
from strongroom.foundation.caller import AnyCaller, Override
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.rows import RowMapper
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.ids import new_id


class TrashEntry(NamedTuple):
    """A row of :data:`trash`."""

    id: str
    node_id: str
    tenant_id: str
    parent_id: str
    trashed_by: str
    trashed_at: int
    size: int
    purging_at: int | None


class TrashedNode(NamedTuple):
    """An entry, and its topmost node."""

    entry: TrashEntry
    node: Node


class RemovedNodes(NamedTuple):
    """Some removed nodes. ``size`` is the size of the files and their versions in bytes."""

    node_ids: Sequence[str]
    size: int
    blob_keys: Sequence[str]


ENTRY: Final = RowMapper(TrashEntry, trash)


def _trashed_node(row: Sequence[Any]) -> TrashedNode:
    node, entry = NODE.split(row)
    return TrashedNode(ENTRY(entry), node)


_ADD: Final = Statement(insert(trash))
_LISTED: Final = trash.c.purging_at.is_(None)
_NODES: Final = select(*nodes.c, *trash.c).join(trash, trash.c.node_id == nodes.c.id)
_OF_NODE: Final = Statement(
    _NODES.where(
        trash.c.node_id == bindparam("node_id"), trash.c.tenant_id == bindparam("tenant_id"), _LISTED
    ),
    _trashed_node,
)
_FORGET: Final = Statement(delete(trash).where(trash.c.id == bindparam("of_id")))
_LISTED_AT_ONCE: Final = Statement(
    _NODES.where(
        trash.c.tenant_id == bindparam("tenant_id"),
        (trash.c.trashed_by == bindparam("user_id")) | bindparam("all"),
        _LISTED,
        trash.c.id > bindparam("after"),
    )
    .order_by(trash.c.id)
    .limit(bindparam("at_most")),
    _trashed_node,
)
_DUE: Final = Statement(
    _NODES.where(
        (trash.c.trashed_at <= bindparam("before")) | trash.c.purging_at.is_not(None),
        # Entries that are retained remain, so each page begins after the one before.
        tuple_(trash.c.trashed_at, trash.c.id) > tuple_(bindparam("after_at"), bindparam("after_id")),
    )
    .order_by(trash.c.trashed_at, trash.c.id)
    .limit(bindparam("at_most")),
    _trashed_node,
)
_PURGING: Final = Statement(
    update(trash).where(trash.c.id == bindparam("of_id"), _LISTED).values(purging_at=bindparam("now"))
)
_SHRINK: Final = Statement(
    update(trash)
    .where(trash.c.id == bindparam("of_id"))
    .values(size=trash.c.size - bindparam("removed", type_=trash.c.size.type))
)
_CHILD: Final = nodes.alias()
# Nodes without children, so that content is removed before its folder.
_LEAVES: Final = Statement(
    select(nodes.c.id, nodes.c.blob_key, nodes.c.size)
    .where(nodes.c.trash_id == bindparam("of_id"), ~exists().where(_CHILD.c.parent_id == nodes.c.id))
    .limit(bindparam("at_most"))
)
_REMOVE: Final = Statement(delete(nodes).where(nodes.c.id.in_(bindparam("node_ids", expanding=True))))
_SIZE: Final = Statement(
    select(func.coalesce(func.sum(trash.c.size), 0)).where(trash.c.tenant_id == bindparam("tenant_id"))
)


@dataclass(slots=True, eq=False, repr=False)
class Trash:
    """Trashed subtrees of all tenants.

    An entry is listed and can be restored until its removal begins. A large subtree is removed in
    several transactions, so that other writers never wait for long.
    """

    _clock: Clock
    _tree: Tree
    _guard: RemovalGuard

    def add(self, connection: Connection, caller: AnyCaller, node: Node) -> None:
        """Move a live node with its subtree to the trash.

        Raises:
            RevisionConflict: the node has changed since it was read.
        """
        entry_id = new_id()
        size = self._tree.detach(connection, caller, node, entry_id)
        parent_id = node.parent_id or node.tenant_id
        now = self._clock.now()
        entry = TrashEntry(entry_id, node.id, node.tenant_id, parent_id, caller.user_id, now, size, None)
        _ADD.execute(connection, ENTRY.values(entry))

    def find(self, connection: Connection, tenant_id: str, node_id: str) -> TrashedNode | None:
        """Return the listed entry of a topmost node, or ``None``."""
        return _OF_NODE.first(connection, {"tenant_id": tenant_id, "node_id": node_id})

    def page(
        self, connection: Connection, tenant_id: str, user_id: str | None, paging: Paging
    ) -> Page[TrashedNode]:
        """Return a page of the listed entries of a tenant, newest first.

        Args:
            connection: the caller's transaction.
            user_id: the user who deleted the nodes; ``None`` is any.
        """
        by_user = true() if user_id is None else trash.c.trashed_by == user_id
        ours: ColumnElement[bool] = (trash.c.tenant_id == tenant_id) & by_user & _LISTED
        count = select(func.count()).select_from(trash).where(ours)
        query = _NODES.where(ours).order_by(trash.c.trashed_at.desc(), trash.c.id.desc())
        return select_page(connection, query, count, paging, _trashed_node)

    def some(
        self, connection: Connection, tenant_id: str, user_id: str | None, after: str, at_most: int
    ) -> list[TrashedNode]:
        """Return some of the entries of :meth:`page`, those with the next ids after one."""
        parameters = {"tenant_id": tenant_id, "user_id": user_id or "", "all": user_id is None}
        return _LISTED_AT_ONCE.all(connection, {**parameters, "after": after, "at_most": at_most})

    def due(
        self, connection: Connection, before: int, after: TrashEntry | None, at_most: int
    ) -> list[TrashedNode]:
        """Return entries of all tenants trashed until ``before``, and those whose removal has begun.

        Args:
            connection: the caller's transaction.
            before: in milliseconds since the Unix epoch.
            after: the last entry of the page before, if there is one.
        """
        start = (after.trashed_at, after.id) if after else (0, "")
        parameters = {"before": before, "at_most": at_most}
        return _DUE.all(connection, {**parameters, "after_at": start[0], "after_id": start[1]})

    def restore(
        self,
        connection: Connection,
        caller: AnyCaller,
        trashed: TrashedNode,
        parent_id: str,
        name: str,
    ) -> Node:
        """Put an entry's subtree into a folder, and remove the entry.

        Raises:
            NameConflict: the name is taken in the folder.
        """
        restored = self._tree.attach(connection, caller, trashed.node, parent_id, name)
        _FORGET.execute(connection, {"of_id": trashed.entry.id})
        return restored

    def begin_purge(
        self, connection: Connection, trashed: TrashedNode, override: Override | None = None
    ) -> bool:
        """Mark an entry for removal, and return whether it was listed until now.

        Raises:
            FileHeld: a hold covers a node of it.
            FileRetained: content in it is retained, and the override is not permitted.
        """
        entry = trashed.entry
        self._guard.require_removable(connection, trashed.node, override)
        return _PURGING.execute(connection, {"of_id": entry.id, "now": self._clock.now()}) == 1

    def remove_some(
        self, connection: Connection, trashed: TrashedNode, at_most: int
    ) -> RemovedNodes | None:
        """Remove up to ``at_most`` nodes of an entry whose purge has begun; ``None``: none is left.

        Nothing is removed either if a hold covers a node of it.
        """
        entry = trashed.entry
        if self._guard.is_held(connection, trashed.node):
            return None
        rows = _LEAVES.all(connection, {"of_id": entry.id, "at_most": at_most})
        if not rows:
            return None
        node_ids = [row.id for row in rows]
        versions = read_contents(connection, node_ids)
        size = sum(row.size for row in rows)
        _SHRINK.execute(connection, {"of_id": entry.id, "removed": size})
        # Removing the topmost node removes the entry as well.
        _REMOVE.execute(connection, {"node_ids": node_ids})
        keys = [row.blob_key for row in rows if row.blob_key]
        keys += [version.blob_key for version in versions]
        return RemovedNodes(node_ids, size + sum(version.size for version in versions), keys)

    def shrink(self, connection: Connection, entry_id: str, size: int) -> None:
        """Subtract the bytes of a node that was removed from an entry."""
        _SHRINK.execute(connection, {"of_id": entry_id, "removed": size})


def trash_bytes(connection: Connection, tenant_id: str) -> int:
    """Return the total size of a tenant's trash in bytes."""
    return int(_SIZE.scalar(connection, {"tenant_id": tenant_id}))
