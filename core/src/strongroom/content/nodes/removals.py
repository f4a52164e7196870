"""Records what users remove or mark permanently: a file event, and a record in the audit log."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.content.nodes.events import FileAction, FileEvents
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.versions import Version
from strongroom.foundation.caller import AnyCaller, Origin

PURGE: Final = "file.purge"
PURGE_VERSION: Final = "version.purge"
UPDATE_VERSION: Final = "version.update"
RELEASE_LOCK: Final = "lock.release"


@dataclass(slots=True, eq=False, repr=False)
class RemovalRecords:
    """Writes both records in the transaction of the change. Call it last: it locks the audit chain.

    Args:
        origin: returns the origin of the current request; an empty one outside of requests.
    """

    _events: FileEvents
    _audit: AuditService
    _origin: Callable[[], Origin] = Origin

    def record(
        self, connection: Connection, event: FileAction, caller: AnyCaller, nodes: Iterable[Node]
    ) -> None:
        """Record the permanent removal of nodes with their subtrees."""
        removed = list(nodes)
        for node in removed:
            self._events.record(connection, event, caller, node)
        self._audit.record_all(connection, [self._record(PURGE, caller, node, {}) for node in removed])

    def record_version(
        self,
        connection: Connection,
        event: FileAction,
        caller: AnyCaller,
        node: Node,
        version: Version,
    ) -> None:
        """Record the permanent removal of a version of a file, or a change of its label or retention."""
        self._events.record(connection, event, caller, node._replace(size=version.size))
        action = PURGE_VERSION if event is FileAction.VERSION_PURGED else UPDATE_VERSION
        details = {"number": str(version.number)}
        self._audit.record(connection, self._record(action, caller, node, details))

    def record_lock(self, connection: Connection, caller: AnyCaller, node: Node, holder_id: str) -> None:
        """Record in the audit log alone that the lock of another user on a node was released."""
        details = {"user": holder_id}
        self._audit.record(connection, self._record(RELEASE_LOCK, caller, node, details))

    def _record(self, action: str, caller: AnyCaller, node: Node, details: dict[str, str]) -> AuditEvent:
        origin = replace(self._origin(), address=caller.address, impersonator_id=caller.impersonator_id)
        return AuditEvent(
            action,
            actor_id=caller.user_id,
            target_type="file",
            target_id=node.id,
            origin=origin,
            details={"tenant": node.tenant_id, **details},
        )
