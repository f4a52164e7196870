"""Removes the contents of the trash permanently."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.clock import DAY, Clock
from strongroom.content.nodes.events import FileAction, FileEvents
from strongroom.content.nodes.file_erasers import FileErasers
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.removal_guard import RemovalGuard
from strongroom.content.nodes.removals import RemovalRecords
from strongroom.content.nodes.trash import Trash, TrashedNode, TrashEntry
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.quota import Quota
from strongroom.extensions.trash.access import TrashAccess
from strongroom.foundation.caller import AnyCaller, Override
from strongroom.foundation.database import Database
from strongroom.foundation.errors import FileHeld, FileRetained

NODES_AT_ONCE = 1000
"""Number of nodes that one transaction removes."""

_BLOBS_AT_ONCE: Final = 20
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


@dataclass(slots=True, eq=False, repr=False)
class EntryRemoval:
    """Removes the nodes of entries whose purge has begun."""

    _database: Database
    _memberships: Memberships
    _trash: Trash
    _quota: Quota
    _blobs: BlobService
    _erasers: FileErasers

    def remove(self, trashed: TrashedNode, at_most: int | None = None) -> int:
        """Remove nodes of an entry, and return their number.

        Args:
            at_most: the number after which it stops; ``None``: all nodes.
        """
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
            self._memberships.lock_tenant(connection, entry.tenant_id)
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


@dataclass(slots=True, eq=False, repr=False)
class TrashRemoval:
    """Removes entries of the trash: at the request of users, and when they are due."""

    _database: Database
    _clock: Clock
    _memberships: Memberships
    _entries: TrashAccess
    _trash: Trash
    _guard: RemovalGuard
    _records: RemovalRecords
    _events: FileEvents
    _removal: EntryRemoval

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
            self._memberships.lock_tenant(connection, tenant_id)
            trashed = self._entries.find(connection, caller, tenant_id, node_id)
            if self._trash.begin_purge(connection, trashed, override):
                self._records.record(connection, FileAction.PURGED, caller, [_removed(trashed)])
        self._removal.remove(trashed, _NODES_PER_REQUEST)

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
                remaining -= self._removal.remove(trashed, remaining)

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
            self._memberships.lock_tenant(connection, entry.tenant_id)
            # The list of due entries used the shortest time of any tenant; the own one decides, read
            # under the lock.
            settings = self._guard.rules(connection, entry.tenant_id).settings
            is_due = settings.purge_at(entry.trashed_at) <= self._clock.now()
            begun = is_due and self._may_begin(connection, trashed)
            if begun:
                # By the server, so only the history of the tenant's files has it.
                deleter = _Deleter(entry.trashed_by)
                self._events.record(connection, FileAction.PURGED, deleter, _removed(trashed))
        return self._removal.remove(trashed) if begun or entry.purging_at is not None else 0

    def _may_begin(self, connection: Connection, trashed: TrashedNode) -> bool:
        """Begin the removal of an entry unless it is held or retained; return whether it began now."""
        try:
            return self._trash.begin_purge(connection, trashed)
        except (FileHeld, FileRetained):
            return False

    def _begin_purge_of_some(
        self, caller: AnyCaller, tenant_id: str, after: str
    ) -> tuple[list[TrashedNode], str]:
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            user_id = self._entries.seen_user(connection, caller, tenant_id)
            entries = self._trash.some(connection, tenant_id, user_id, after, _ENTRIES_AT_ONCE)
            begun = [each for each in entries if self._may_begin(connection, each)]
            self._records.record(connection, FileAction.PURGED, caller, map(_removed, begun))
            return begun, entries[-1].entry.id if entries else ""

    def _due(self, last: TrashEntry | None) -> list[TrashedNode]:
        with self._database.read() as connection:
            days = self._guard.least_trash_days(connection)
            before = self._clock.now() - days * DAY
            return self._trash.due(connection, before, last, _ENTRIES_AT_ONCE)


def _removed(trashed: TrashedNode) -> Node:
    """Return a node of the trash in the folder that it was deleted from, for its event."""
    return trashed.node._replace(parent_id=trashed.entry.parent_id)
