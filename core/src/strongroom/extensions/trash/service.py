"""Lists, restores and removes the contents of the trash."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, select

from strongroom.clock import DAY, Clock
from strongroom.content.files.moving import MovingService
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.events import FileAction, file_events
from strongroom.content.nodes.expiry import ExpiryRules
from strongroom.content.nodes.file_erasers import FileErasers
from strongroom.content.nodes.file_writer import FileWriter
from strongroom.content.nodes.models import Node, folders_around
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.removals import RemovalRecords
from strongroom.content.nodes.retention_models import RetentionSettings
from strongroom.content.nodes.trash import Trash, TrashedNode, TrashEntry
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.models import Role
from strongroom.content.tenants.quota import Quota
from strongroom.foundation.caller import AnyCaller, Override
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import FileHeld, FileRetained, Forbidden, NotFound, ParentGone
from strongroom.identity.users.service import UserService

_BLOBS_AT_ONCE: Final = 20

# Read apart from the path, so that the planner takes the index of the numbers: a node that is often
# downloaded has many events.
_RESTORED: Final = Statement(
    select(file_events.c.node_id).where(
        file_events.c.tenant_id == bindparam("tenant_id"),
        file_events.c.sequence > bindparam("sequence"),
        file_events.c.action == FileAction.RESTORED.value,
    )
)
_AROUND: Final = Statement(lambda _: select(folders_around().c.id))

NODES_AT_ONCE = 1000
"""Number of nodes that one transaction removes."""

_ENTRIES_AT_ONCE: Final = 100
_NODES_PER_REQUEST: Final = 5000
"""Number of nodes that are removed before a request is answered; the next purge continues."""


@dataclass(frozen=True, slots=True)
class _Deleter:
    """The actor of a scheduled purge: the user who deleted the node."""

    user_id: str
    address: None = None
    impersonator_id: None = None
    plugin: None = None


@dataclass(frozen=True, slots=True)
class RestoreRequest:
    """Destination of a restored node.

    Args:
        on_conflict: the rule for a taken name: fail, append a number, or replace a file by a file, for
            which the caller must manage the replaced file.
        to_former_parent: whether it returns to the folder that it was in.
        parent_id: the folder otherwise; ``None`` is the top level.
    """

    on_conflict: OnConflict = OnConflict.FAIL
    to_former_parent: bool = True
    parent_id: str | None = None


class TrashService:
    """The trash of tenants: members see what they deleted, administrators of the tenant everything."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        access: AccessControl,
        expiry: ExpiryRules,
        trash: Trash,
        moving: MovingService,
        file_writer: FileWriter,
        blobs: BlobService,
        users: UserService,
        quota: Quota,
        guard: RemovalGuard,
        removals: RemovalRecords,
        erasers: FileErasers,
    ) -> None:
        self._database = database
        self._clock = clock
        self._access = access
        self._expiry = expiry
        self._trash = trash
        self._moving = moving
        self._events = file_writer.events
        self._blobs = blobs
        self._users = users
        self._quota = quota
        self._guard = guard
        self._removals = removals
        self._erasers = erasers

    def page(
        self, caller: AnyCaller, tenant_id: str, paging: Paging
    ) -> tuple[Page[TrashedNode], list[dict[str, str]], RetentionSettings]:
        """Return a page of the entries that the caller sees, the users in it, and the retention.

        Raises:
            Forbidden: the caller is not a member of the tenant, or has an access key of a folder.
        """
        with self._database.read() as connection:
            user_id = self._user_filter(connection, caller, tenant_id)
            page = self._trash.page(connection, tenant_id, user_id, paging)
            named = {item.entry.trashed_by for item in page.items}
            named |= {item.node.owner_id for item in page.items}
            settings = self._guard.rules(connection, tenant_id).settings
            return page, self._users.summaries(connection, named), settings

    def restored_since(self, caller: AnyCaller, tenant_id: str, node_id: str, sequence: int) -> bool:
        """Return whether a node came back from the trash after a change of the tenant's files.

        It may have been deleted with a folder around it.

        Raises:
            Forbidden: the caller may not read the node.
            NotFound: the tenant has no such node.
        """
        with self._database.read() as connection:
            self._access.require(connection, caller, tenant_id, node_id, operations.GET)
            after = {"tenant_id": tenant_id, "sequence": sequence}
            restored = [row.node_id for row in _RESTORED.all(connection, after)]
            if not restored:
                return False
            around = {row.id for row in _AROUND.all(connection, {"node_id": node_id})}
            return not around.isdisjoint(restored)

    def restore(
        self, caller: AnyCaller, tenant_id: str, node_id: str, request: RestoreRequest
    ) -> NodeView:
        """Restore a node with its subtree, its ids and its grants.

        Raises:
            Forbidden: the caller is not a member of the tenant, has an access key of a folder, may not
                write to the folder, or a permission gained would outlast the caller's own.
            NotFound: the caller sees no such entry, or the named folder does not exist.
            ParentGone: the folder that it was in is deleted.
            NotAFolder: the named folder is a file.
            NameConflict: the name is taken.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            return self.restore_within(connection, caller, tenant_id, node_id, request)

    def restore_within(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        request: RestoreRequest,
    ) -> NodeView:
        """Do the same as :meth:`restore` in the caller's transaction, which holds the tenant lock."""
        trashed = self._find(connection, caller, tenant_id, node_id)
        parent_id = self._folder(connection, caller, trashed, request)
        name = self._moving.resolve_conflict(
            connection, caller, trashed.node, parent_id, trashed.node.name, request.on_conflict
        )
        node = self._trash.restore(connection, trashed, parent_id, name)
        self._events.record(connection, FileAction.RESTORED, caller, node)
        after = self._access.find(connection, caller, tenant_id, node_id)
        return NodeView(node, after.permission)

    def delete(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        override: Override | None = None,
    ) -> None:
        """Remove a node with its subtree permanently. A large one is removed in the background.

        Raises:
            Forbidden: the caller is not a member of the tenant, or has an access key of a folder.
            NotFound: the caller sees no such entry.
            FileHeld: a hold covers a node of it.
            FileRetained: content in it is retained, and the override is not permitted.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            trashed = self._find(connection, caller, tenant_id, node_id)
            if self._trash.begin_purge(connection, trashed, override):
                self._removals.record(connection, FileAction.PURGED, caller, [_removed(trashed)])
        self._remove(trashed, _NODES_PER_REQUEST)

    def empty(self, caller: AnyCaller, tenant_id: str) -> None:
        """Remove all entries that the caller sees permanently; most of them in the background.

        Those that are held or retained remain.

        Raises:
            Forbidden: the caller is not a member of the tenant, or has an access key of a folder.
        """
        remaining, after = _NODES_PER_REQUEST, ""
        while True:
            begun, after = self._begin_purge_of_some(caller, tenant_id, after)
            if not after:
                return
            for trashed in begun:
                remaining -= self._remove(trashed, remaining)

    def purge(self) -> int:
        """Remove the entries that are due, and return the number of removed nodes.

        Those that are held or retained remain. Safe while servers are running. The next purge continues
        an interrupted one.
        """
        removed, last = 0, None
        while entries := self._due(last):
            removed += sum(self._purge(trashed) for trashed in entries)
            last = entries[-1].entry
        return removed

    def _purge(self, trashed: TrashedNode) -> int:
        entry = trashed.entry
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, entry.tenant_id)
            # The list of due entries used the shortest time of any tenant; the own one decides, read
            # under the lock.
            days = self._guard.rules(connection, entry.tenant_id).settings.trash_days
            is_due = entry.trashed_at <= self._clock.now() - days * DAY
            begun = is_due and self._may_begin(connection, trashed)
            if begun:
                # By the server, so only the history of the tenant's files has it.
                deleter = _Deleter(entry.trashed_by)
                self._events.record(connection, FileAction.PURGED, deleter, _removed(trashed))
        return self._remove(trashed) if begun or entry.purging_at is not None else 0

    def _may_begin(self, connection: Connection, trashed: TrashedNode) -> bool:
        """Begin the removal of an entry unless it is held or retained; return whether it began now."""
        try:
            return self._trash.begin_purge(connection, trashed)
        except (FileHeld, FileRetained):
            return False

    def _user_filter(self, connection: Connection, caller: AnyCaller, tenant_id: str) -> str | None:
        """Return the user whose entries the caller sees; ``None``: all users' entries."""
        root = self._access.find(connection, caller, tenant_id, None)
        role = root.require_member()
        # Nodes in the trash are in no folder.
        if root.folder_id is not None:
            raise Forbidden
        return None if role is Role.ADMIN else caller.user_id

    def _find(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, node_id: str
    ) -> TrashedNode:
        user_id = self._user_filter(connection, caller, tenant_id)
        trashed = self._trash.find(connection, tenant_id, node_id)
        if trashed is None or user_id not in (None, trashed.entry.trashed_by):
            raise NotFound
        return trashed

    def _folder(
        self,
        connection: Connection,
        caller: AnyCaller,
        trashed: TrashedNode,
        request: RestoreRequest,
    ) -> str:
        """Return the id of the folder to restore to, in which the caller may create nodes."""
        entry = trashed.entry
        former = None if entry.parent_id == entry.tenant_id else entry.parent_id
        parent_id = former if request.to_former_parent else request.parent_id
        try:
            self._access.require_parent(connection, caller, entry.tenant_id, parent_id)
        except NotFound as error:
            if request.to_former_parent:
                raise ParentGone from error
            raise
        folder_id = parent_id or entry.tenant_id
        # Back in its folder, it gives the permissions that it gave before.
        if parent_id != former:
            alive = former if self._is_alive(connection, caller, entry, former) else None
            self._expiry.require_movable(connection, caller, trashed.node, folder_id, alive)
        return folder_id

    def _is_alive(
        self, connection: Connection, caller: AnyCaller, entry: TrashEntry, folder_id: str | None
    ) -> bool:
        access = self._access.find(connection, caller, entry.tenant_id, folder_id)
        return folder_id is not None and access.node is not None

    def _begin_purge_of_some(
        self, caller: AnyCaller, tenant_id: str, after: str
    ) -> tuple[list[TrashedNode], str]:
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            user_id = self._user_filter(connection, caller, tenant_id)
            entries = self._trash.some(connection, tenant_id, user_id, after, _ENTRIES_AT_ONCE)
            begun = [each for each in entries if self._may_begin(connection, each)]
            self._removals.record(connection, FileAction.PURGED, caller, map(_removed, begun))
            return begun, entries[-1].entry.id if entries else ""

    def _due(self, last: TrashEntry | None) -> list[TrashedNode]:
        with self._database.read() as connection:
            days = self._guard.least_trash_days(connection)
            before = self._clock.now() - days * DAY
            return self._trash.due(connection, before, last, _ENTRIES_AT_ONCE)

    def _remove(self, trashed: TrashedNode, at_most: int | None = None) -> int:
        """Remove nodes of an entry whose purge has begun, and return their number."""
        removed = 0
        while at_most is None or removed < at_most:
            left = NODES_AT_ONCE if at_most is None else min(NODES_AT_ONCE, at_most - removed)
            count = self._remove_some(trashed, left)
            if not count:
                break
            removed += count
        return removed

    def _remove_some(self, trashed: TrashedNode, at_most: int) -> int:
        entry = trashed.entry
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, entry.tenant_id)
            # Few nodes for each transaction, so that others of the tenant wait for the lock only
            # shortly.
            removed = self._trash.remove_some(connection, trashed, at_most)
            if removed is None:
                return 0
            self._erasers.erase(connection, entry.tenant_id, removed.node_ids)
            self._quota.use(connection, entry.tenant_id, -removed.size)
            # Rows, quota and blobs change together; the bytes are deleted after the commit.
            released = self._blobs.release(connection, removed.blob_keys)
        # Few files go at once; garbage collection deletes the others.
        self._blobs.remove(released[:_BLOBS_AT_ONCE])
        return len(removed.node_ids)


def _removed(trashed: TrashedNode) -> Node:
    """Return a node of the trash in the folder that it was deleted from, for its event."""
    return trashed.node._replace(parent_id=trashed.entry.parent_id)
