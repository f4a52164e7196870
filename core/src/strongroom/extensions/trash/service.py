"""Lists and restores the contents of the trash."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, select

from strongroom.content.files.moving import MovingService
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.events import FileAction, FileEvents, file_events
from strongroom.content.nodes.expiry import ExpiryRules
from strongroom.content.nodes.models import folders_around
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.retention_models import RetentionSettings
from strongroom.content.nodes.trash import Trash, TrashedNode, TrashEntry
from strongroom.extensions.trash.access import TrashAccess
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound, ParentGone
from strongroom.identity.users.service import UserService

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


@dataclass(slots=True, eq=False, repr=False)
class TrashService:
    """The trash of tenants, and what returns from it."""

    _database: Database
    _access: AccessControl
    _entries: TrashAccess
    _trash: Trash
    _expiry: ExpiryRules
    _moving: MovingService
    _events: FileEvents
    _users: UserService
    _guard: RemovalGuard

    @replica_read
    def page(
        self, caller: AnyCaller, tenant_id: str, paging: Paging
    ) -> tuple[Page[TrashedNode], list[dict[str, str]], RetentionSettings]:
        """Return a page of the entries that the caller sees, the users in it, and the retention.

        Raises:
            Forbidden: the caller is not a member of the tenant, or has an access key of a folder.
        """
        with self._database.read() as connection:
            user_id = self._entries.seen_user(connection, caller, tenant_id)
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
        trashed = self._entries.find(connection, caller, tenant_id, node_id)
        parent_id = self._folder(connection, caller, trashed, request)
        name = self._moving.resolve_conflict(
            connection, caller, trashed.node, parent_id, trashed.node.name, request.on_conflict
        )
        node = self._trash.restore(connection, caller, trashed, parent_id, name)
        self._events.record(connection, FileAction.RESTORED, caller, node)
        after = self._access.find(connection, caller, tenant_id, node_id)
        return NodeView(node, after.permission)

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
