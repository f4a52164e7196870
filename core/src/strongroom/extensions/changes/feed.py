"""Reads the changes of a tenant's files that a caller can see.

Whether a caller can see a node is decided when the change is read, by the same rule as every other
access. So a change never reveals more of a node than a list of files does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.events.declarations import acting_data
from strongroom.clock import iso_format
from strongroom.content.files.serializers import Json
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.events import FileAction, FileEvent
from strongroom.extensions.events.stream import changes_after, newest_change
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.errors import CursorExpired
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.events import ACTOR, ON_BEHALF_OF

UNAVAILABLE: Final = "node.unavailable"
"""The type of a record about a node that the caller cannot see, or that no longer exists."""


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Some changes of a tenant, the oldest first.

    Args:
        cursor: the sequence of the last change, for the next page.
        has_more: whether there are more changes now.
        included: the summaries of the users who made them.
    """

    cursor: int
    has_more: bool
    records: Sequence[Json] = ()
    included: Sequence[dict[str, str]] = ()


@dataclass(slots=True, eq=False, repr=False)
class ChangeFeed:
    """Reads changes from a cursor on."""

    _database: Database
    _access: AccessControl
    _users: UserService

    @replica_read
    def page(self, caller: AnyCaller, tenant_id: str, cursor: int | None, limit: int) -> ChangePage:
        """Return the changes after a cursor; without one, none and the cursor of the newest change.

        Raises:
            TokenInvalid: the caller's login was revoked.
            Forbidden: the caller is not a member of the tenant, whether or not it exists.
            CursorExpired: the changes after the cursor were deleted, or the cursor is from the future.
        """
        with self._database.read() as connection:
            root = self._access.find(connection, caller, tenant_id, None)
            root.require_member()
            if cursor is None:
                return ChangePage(newest_change(connection, tenant_id), has_more=False)
            # One more than wanted shows whether there are more.
            changes = changes_after(connection, tenant_id, cursor, limit + 1)
            self._require_complete(connection, tenant_id, cursor, changes)
            page_changes = changes[:limit]
            reading = _Reading(self._access, connection, caller, tenant_id)
            # An access key that is limited to a folder gets nothing about nodes outside, not even ids.
            is_limited = root.folder_id is not None
            records = [
                reading.record(change)
                for change in page_changes
                if not is_limited or reading.is_near(change)
            ]
            members = (ACTOR.name, ON_BEHALF_OF.name)
            actors = {record[name]["$ref"] for record in records for name in members if name in record}
            return ChangePage(
                page_changes[-1].sequence or 0 if page_changes else cursor,
                len(changes) > limit,
                records,
                self._users.summaries(connection, actors),
            )

    def _require_complete(
        self, connection: Connection, tenant_id: str, cursor: int, changes: Sequence[FileEvent]
    ) -> None:
        if changes:
            # Sequences have no gaps, so a missing one was deleted by retention.
            is_complete = changes[0].sequence == cursor + 1
        else:
            # A restored backup may be older than the cursor.
            is_complete = cursor <= newest_change(connection, tenant_id)
        if not is_complete:
            raise CursorExpired


class _Reading:
    """The changes of one page, and the nodes that the caller can read."""

    def __init__(
        self, access: AccessControl, connection: Connection, caller: AnyCaller, tenant_id: str
    ) -> None:
        self._access = access
        self._connection = connection
        self._caller = caller
        self._tenant_id = tenant_id
        self._readable: dict[str | None, bool] = {}

    def record(self, change: FileEvent) -> Json:
        """Return a change as a record."""
        is_deletion = change.action == FileAction.DELETED
        # A deleted node has no permissions, so its folder's count.
        if not self._is_readable(change.parent_id if is_deletion else change.node_id):
            return {"sequence": change.sequence, "type": UNAVAILABLE, "fileId": change.node_id}
        return {
            "sequence": change.sequence,
            "type": change.action,
            "fileId": change.node_id,
            "parentId": change.parent_id,
            **self._previous_parent(change),
            "name": change.name,
            "revision": change.revision,
            **acting_data(change.actor_id, change.on_behalf_of),
            "occurredAt": iso_format(change.at),
        }

    def is_near(self, change: FileEvent) -> bool:
        """Return whether the caller can read the node, or a folder that it is or was in."""
        ids = (change.node_id, change.parent_id, change.previous_parent_id)
        return any(self._is_readable(node_id) for node_id in ids if node_id is not None)

    def _previous_parent(self, change: FileEvent) -> Json:
        moved_from = change.previous_parent_id
        if change.action != FileAction.MOVED:
            return {}
        # The caller may never have seen the folder that the node was moved from.
        is_shown = moved_from is None or self._is_readable(moved_from)
        return {"previousParentId": moved_from} if is_shown else {}

    def _is_readable(self, node_id: str | None) -> bool:
        # ``None`` is the root, which only administrators of the tenant can read.
        if node_id not in self._readable:
            access = self._access.find(self._connection, self._caller, self._tenant_id, node_id)
            self._readable[node_id] = access.may(operations.LIST_CHANGES)
        return self._readable[node_id]
