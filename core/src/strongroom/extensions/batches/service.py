"""Applies changes to many files and folders, by the services that change one.

The items of a batch are applied in order, each to the tree that the previous ones left. What an item
reads of its destination is shared with the next items, as long as items change files only: a file gives
no permission on other nodes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection

from strongroom.content.files.copying import Copy, CopyingService, NodeBudget
from strongroom.content.files.grants import GrantRequest, GrantService, GroupGrantRequest
from strongroom.content.files.group_grants import GroupGrantService
from strongroom.content.files.moving import Move, MovingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView
from strongroom.content.nodes.events import EventRow, FileEvents
from strongroom.content.nodes.models import NodeType
from strongroom.content.nodes.shared_reads import SharedReads, sharing_reads
from strongroom.content.storage.models import Released
from strongroom.extensions.trash.service import RestoreRequest, TrashService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.errors import StrongroomError, Unavailable
from strongroom.foundation.operations import OperationRule

MAX_ITEMS: Final = 1000
"""Number of items of a batch: an atomic one is one transaction."""

ITEMS_AT_ONCE = 100
"""Number of items per transaction of a batch that is not atomic, so that other writers need not wait."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deletion, as by :meth:`FileService.delete`: into the trash if there is one."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """The end of a user's grant."""

    user_id: str


@dataclass(frozen=True, slots=True)
class GroupRevocation:
    """The end of a group's grant."""

    group_id: str


Change = (
    Move
    | Copy
    | Deletion
    | RestoreRequest
    | GrantRequest
    | GroupGrantRequest
    | Revocation
    | GroupRevocation
)


@dataclass(frozen=True, slots=True)
class BatchItem:
    """A change of a node; ``revision`` is the expected one of a moved or deleted node."""

    node_id: str
    change: Change
    revision: int | None = None


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The result of an item: the status of the same change alone, and the node or the error.

    Only items that move, copy or restore have a node, as it was after the item.
    """

    node_id: str
    status: int
    view: NodeView | None = None
    error: StrongroomError | None = None


@dataclass(slots=True)
class _Run:
    """The progress of a batch: who does it, and what remains to be done after its commit."""

    caller: Identity
    tenant_id: str
    origin: Origin
    reads: SharedReads = field(default_factory=SharedReads)
    budget: NodeBudget = field(default_factory=NodeBudget)
    released: list[Released] = field(default_factory=list)


_Outcome = tuple[int, NodeView | None]
_Apply = Callable[[Connection, _Run, BatchItem, Any], _Outcome]


class BatchService:
    """Moves, copies, deletes, restores and shares many nodes of a tenant.

    Each change has the checks, limits, events and audit records that it has alone, because the service
    that makes it alone makes it here as well.
    """

    def __init__(
        self,
        database: Database,
        access: AccessControl,
        files: FileService,
        moving: MovingService,
        copying: CopyingService,
        trash: TrashService,
        grants: GrantService,
        group_grants: GroupGrantService,
        events: FileEvents,
    ) -> None:
        self._database = database
        self._access = access
        self._files = files
        self._moving = moving
        self._copying = copying
        self._trash = trash
        self._grants = grants
        self._group_grants = group_grants
        self._events = events
        self._changes: Mapping[type, tuple[OperationRule, _Apply]] = {
            # A move within a folder is a rename; its service requires more of any other move.
            Move: (operations.RENAME, self._move),
            Copy: (operations.COPY, self._copy),
            Deletion: (operations.DELETE, self._delete),
            RestoreRequest: (operations.RESTORE, self._restore),
            GrantRequest: (operations.GRANT, self._grant),
            GroupGrantRequest: (operations.GRANT, self._grant_group),
            Revocation: (operations.REVOKE, self._revoke),
            GroupRevocation: (operations.REVOKE, self._revoke_group),
        }

    def apply_all(
        self, caller: Identity, tenant_id: str, items: Sequence[BatchItem], origin: Origin
    ) -> list[BatchResult]:
        """Apply all items in one transaction, or none.

        Raises:
            StrongroomError: the error of the first item that fails, whose fields begin with its position
                as ``items.N``.
        """
        run = _Run(caller, tenant_id, origin)
        with self._database.write() as connection:
            self._begin(connection, run)
            with self._events.collecting(connection), sharing_reads() as run.reads:
                results = [self._apply_or_fail(connection, run, *entry) for entry in enumerate(items)]
        self._files.remove_some(run.released)
        return results

    def apply_each(
        self, caller: Identity, tenant_id: str, items: Sequence[BatchItem], origin: Origin
    ) -> list[BatchResult]:
        """Apply each item on its own; one that fails changes nothing and does not affect the others.

        Raises:
            Forbidden: the caller is not a member of the tenant.
            StepUpRequired, KeyNotAccepted: the tenant demands a stronger login.
            Unavailable: the database does not respond; earlier items may be applied.
        """
        run = _Run(caller, tenant_id, origin)
        results: list[BatchResult] = []
        for start in range(0, len(items), ITEMS_AT_ONCE):
            with self._database.write() as connection:
                self._begin(connection, run)
                some = items[start : start + ITEMS_AT_ONCE]
                with self._events.collecting(connection) as events, sharing_reads() as run.reads:
                    results += [self._apply_alone(connection, run, item, events) for item in some]
        self._files.remove_some(run.released)
        return results

    def _begin(self, connection: Connection, run: _Run) -> None:
        self._access.memberships.lock_tenant(connection, run.tenant_id)
        self._access.find(connection, run.caller, run.tenant_id, None).require_member()

    def _apply_or_fail(
        self, connection: Connection, run: _Run, number: int, item: BatchItem
    ) -> BatchResult:
        try:
            return self._apply(connection, run, item)
        except StrongroomError as error:
            raise error.within(f"items.{number}") from error

    def _apply_alone(
        self, connection: Connection, run: _Run, item: BatchItem, events: list[EventRow]
    ) -> BatchResult:
        recorded = len(events)
        try:
            # The savepoint undoes the part of the item that preceded the error.
            with connection.begin_nested():
                return self._apply(connection, run, item)
        except Unavailable:
            raise
        except StrongroomError as error:
            del events[recorded:]
            return BatchResult(item.node_id, error.status, error=error)

    def _apply(self, connection: Connection, run: _Run, item: BatchItem) -> BatchResult:
        rule, apply = self._changes[type(item.change)]
        run.caller.require_scope(rule)
        view = None
        try:
            status, view = apply(connection, run, item, item.change)
        finally:
            # Grants and changes of folders may change permissions on other nodes.
            if view is None or view.node.type != NodeType.FILE:
                run.reads.forget_folders()
        return BatchResult(item.node_id, status, view)

    def _move(self, connection: Connection, run: _Run, item: BatchItem, move: Move) -> _Outcome:
        moved = self._moving.move_within(
            connection, run.caller, run.tenant_id, item.node_id, move, item.revision
        )
        return 200, moved

    def _copy(self, connection: Connection, run: _Run, item: BatchItem, copy: Copy) -> _Outcome:
        copied = self._copying.copy_within(
            connection, run.caller, run.tenant_id, item.node_id, copy, run.budget
        )
        return 201, copied

    def _delete(self, connection: Connection, run: _Run, item: BatchItem, _: Deletion) -> _Outcome:
        run.released += self._files.delete_within(
            connection, run.caller, run.tenant_id, item.node_id, item.revision
        )
        return 200, None

    def _restore(
        self, connection: Connection, run: _Run, item: BatchItem, request: RestoreRequest
    ) -> _Outcome:
        restored = self._trash.restore_within(
            connection, run.caller, run.tenant_id, item.node_id, request
        )
        return 200, restored

    def _grant(
        self, connection: Connection, run: _Run, item: BatchItem, request: GrantRequest
    ) -> _Outcome:
        _, is_new = self._grants.put_within(
            connection, run.caller, run.tenant_id, item.node_id, request, run.origin
        )
        return 201 if is_new else 200, None

    def _grant_group(
        self, connection: Connection, run: _Run, item: BatchItem, request: GroupGrantRequest
    ) -> _Outcome:
        _, is_new = self._group_grants.put_within(
            connection, run.caller, run.tenant_id, item.node_id, request, run.origin
        )
        return 201 if is_new else 200, None

    def _revoke(
        self, connection: Connection, run: _Run, item: BatchItem, revocation: Revocation
    ) -> _Outcome:
        self._grants.remove_within(
            connection, run.caller, run.tenant_id, item.node_id, revocation.user_id, run.origin
        )
        return 200, None

    def _revoke_group(
        self, connection: Connection, run: _Run, item: BatchItem, revocation: GroupRevocation
    ) -> _Outcome:
        self._group_grants.remove_within(
            connection, run.caller, run.tenant_id, item.node_id, revocation.group_id, run.origin
        )
        return 200, None
