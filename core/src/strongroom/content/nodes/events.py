"""Records file events: changes in the same transaction, downloads in batches after the response."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from enum import StrEnum
from threading import Lock, Timer
from typing import Any, Final, Protocol

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Insert,
    String,
    Table,
    bindparam,
    func,
    insert,
    select,
)

from strongroom.clock import DAY, Clock
from strongroom.content.nodes.models import Node
from strongroom.foundation.caller import AnyCaller, attribute_action
from strongroom.foundation.database import Database
from strongroom.foundation.database.commit_signal import mark_topic
from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import StrongroomError
from strongroom.foundation.ids import new_id
from strongroom.plugin_api.tracing import traceparent


class FileAction(StrEnum):
    """Action of a file event."""

    FOLDER_CREATED = "folder.created"
    CREATED = "file.created"
    REPLACED = "file.replaced"
    RENAMED = "file.renamed"
    MOVED = "file.moved"
    DELETED = "file.deleted"
    RESTORED = "file.restored"
    PURGED = "file.purged"
    VERSION_PURGED = "file.version_purged"
    VERSION_CHANGED = "file.version_changed"
    DOWNLOADED = "file.downloaded"


@dataclass(frozen=True, slots=True)
class FileEvent:
    """A row of :data:`file_events`. ``name``, ``parent_id`` and ``size`` are those after the action.

    Downloads have no ``sequence`` and no ``revision``; only a move has a ``previous_parent_id``.
    ``on_behalf_of`` is the user that the actor impersonated. ``plugin`` is the plugin that used the
    actor's rights for another person, such as the visitor of a share link.
    """

    id: str
    at: int
    tenant_id: str
    node_id: str
    action: str
    actor_id: str
    address: str | None
    name: str
    parent_id: str | None
    size: int
    sequence: int | None = None
    revision: int | None = None
    previous_parent_id: str | None = None
    traceparent: str | None = None
    on_behalf_of: str | None = None
    plugin: str | None = None


file_events: Final = Table(
    "file_events",
    metadata,
    Column("id", Id, primary_key=True),
    Column("at", Timestamp, nullable=False),
    Column("tenant_id", Id, nullable=False),
    Column("node_id", Id, nullable=False),
    Column("action", String(32), nullable=False),
    Column("actor_id", Id, nullable=False),
    Column("address", String(64)),
    Column("name", Name, nullable=False),
    Column("parent_id", Id),
    Column("size", BigInteger, nullable=False),
    Column("sequence", BigInteger),
    Column("revision", Timestamp),
    Column("previous_parent_id", Id),
    Column("traceparent", String(55)),
    Column("on_behalf_of", Id),
    Column("plugin", String(64)),
    # One index per filter, each ending with the sort order of lists.
    Index(None, "tenant_id", "at", "id"),
    Index(None, "tenant_id", "node_id", "at", "id"),
    Index(None, "tenant_id", "actor_id", "at", "id"),
    Index(None, "at"),
    Index(None, "tenant_id", "sequence", unique=True),
)
"""The history of tenants' files, and the outbox of their events. No foreign keys: an event outlives the
node and the user.

Changes are numbered per tenant, from 1 and without gaps, in the order of their commits. Downloads, and
changes before the numbering was introduced, have no number."""


logger = logging.getLogger(__name__)


def _append() -> Insert:
    """Return the INSERT of a change with the next number of its tenant.

    Each change holds the lock on its tenant from before this statement until its commit (on SQLite, the
    only write lock). So numbers are assigned in the order of the commits, and a reader that sees a
    number has all lower ones. The unique index refuses a change that was made without the lock.
    """
    newest = select(func.max(file_events.c.sequence)).where(
        file_events.c.tenant_id == bindparam("tenant_id")
    )
    values: dict[str, ColumnElement[Any]] = {
        column.name: bindparam(column.name, type_=column.type) for column in file_events.c
    }
    values["sequence"] = func.coalesce(newest.scalar_subquery(), 0) + 1
    return insert(file_events).from_select(list(values), select(*values.values()))


_RECORD: Final = Statement(insert(file_events))
_APPEND: Final = Statement(_append())
_INTERVAL: Final = 1.0
_MAX_WAITING: Final = 10_000

SENT: Final = (200, 206, 307)
"""Statuses of responses that contain content or redirect to the store."""

_Key = tuple[str, str, str | None, str | None, str | None]
EventRow = dict[str, Any]

# A context variable: concurrent requests keep separate changes.
_collected: Final[ContextVar[list[EventRow] | None]] = ContextVar("collected_events", default=None)


class Recorded(Protocol):
    """The attributes of a file or folder that an event records."""

    @property
    def id(self) -> str:
        """Id of the node."""

    @property
    def tenant_id(self) -> str:
        """Id of its tenant."""

    @property
    def parent_id(self) -> str | None:
        """Id of its parent folder, or of the tenant's root."""

    @property
    def name(self) -> str:
        """Name of the node."""

    @property
    def size(self) -> int:
        """Size in bytes; 0 for a folder."""


class Actor(Protocol):
    """The user who acts, and the client's address if there is one."""

    @property
    def user_id(self) -> str:
        """Id of the user."""

    @property
    def address(self) -> str | None:
        """Address of the client."""

    @property
    def impersonator_id(self) -> str | None:
        """Id of the administrator who impersonates the user, if one does."""

    @property
    def plugin(self) -> str | None:
        """The plugin that uses the user's rights, if one does."""


class FileEvents:
    """Writes and deletes file events.

    Args:
        days: retention period in days; 0 disables deletion.
        change_days: the shortest retention period of changes, in days.
    """

    def __init__(self, database: Database, clock: Clock, days: int, change_days: int) -> None:
        self._database = database
        self._clock = clock
        self._days = days
        self._change_days = max(days, change_days)

    def record(
        self,
        connection: Connection,
        action: FileAction,
        caller: Actor,
        node: Node,
        *,
        previous_parent_id: str | None = None,
    ) -> None:
        """Record a change in the transaction that makes it, which holds the lock on the tenant.

        Args:
            connection: the caller's transaction.
            node: the node after the action, or before its deletion.
            previous_parent_id: the folder that it was moved from.
        """
        event = self.event(action, caller, node)
        # Not asdict(), which copies each value.
        row = {name: getattr(event, name) for name in FileEvent.__slots__}
        row["revision"] = node.revision
        row["previous_parent_id"] = _parent_id(node.tenant_id, previous_parent_id)
        row["traceparent"] = traceparent()
        mark_topic(connection, node.tenant_id)
        collected = _collected.get()
        if collected is None:
            _APPEND.execute(connection, row)
        else:
            collected.append(row)

    @contextmanager
    def collecting(self, connection: Connection) -> Iterator[list[EventRow]]:
        """Write the changes that this thread records in the block by one statement, at its end.

        A caller that undoes some of the changes removes them from the list.
        """
        rows: list[EventRow] = []
        token = _collected.set(rows)
        try:
            yield rows
        finally:
            _collected.reset(token)
        # Not after an error, because the transaction of the changes is rolled back then.
        if rows:
            _APPEND.execute(connection, rows)

    def record_all(self, events: Iterable[FileEvent]) -> None:
        """Record events in a separate, non-durable transaction."""
        with self._database.write(durable=False) as connection:
            for event in events:
                _RECORD.execute(connection, asdict(event))

    def event(self, action: FileAction, caller: Actor, node: Recorded) -> FileEvent:
        """Return an event with the current time."""
        actor_id, on_behalf_of = attribute_action(caller.user_id, caller.impersonator_id)
        return FileEvent(
            new_id(),
            self._clock.now(),
            node.tenant_id,
            node.id,
            action.value,
            actor_id,
            caller.address,
            node.name,
            _parent_id(node.tenant_id, node.parent_id),
            node.size,
            on_behalf_of=on_behalf_of,
            plugin=caller.plugin,
        )

    def prune(self) -> int:
        """Delete events older than the retention period, and return their number.

        The newest change of each tenant stays, because the next one is numbered after it.
        """
        if self._days == 0:
            return 0
        at, now = file_events.c.at, self._clock.now()
        is_passed = file_events.c.sequence < _newest_of_same_tenant()
        is_old_change = (at < now - self._change_days * DAY) & is_passed
        old = (at < now - self._days * DAY) & (file_events.c.sequence.is_(None) | is_old_change)
        return prune(self._database, file_events.c.id, old)

    def remove_all(self, tenant_id: str) -> int:
        """Delete all events of a tenant, and return their number."""
        return prune(self._database, file_events.c.id, file_events.c.tenant_id == tenant_id)


def _newest_of_same_tenant() -> ColumnElement[int]:
    other = file_events.alias()
    newest = select(func.max(other.c.sequence)).where(other.c.tenant_id == file_events.c.tenant_id)
    return newest.scalar_subquery()


def _parent_id(tenant_id: str, parent_id: str | None) -> str | None:
    # The tenant's root is no node for clients.
    return None if parent_id == tenant_id else parent_id


class DownloadRecorder:
    """Records downloads outside the request.

    A transaction per download would cost more than the download. So events are buffered in memory and
    written once per second, and when the process stops. A killed process loses the events of its last
    second. Requests of one user from one address for one file within that second, such as range
    requests, are one event.
    """

    def __init__(self, events: FileEvents) -> None:
        self._events = events
        self._lock = Lock()
        self._writing = Lock()
        self._waiting: dict[_Key, FileEvent] = {}
        self._timer: Timer | None = None

    def record(self, caller: AnyCaller, node: Recorded) -> None:
        """Record a download of a file by a user."""
        key = (node.id, caller.user_id, caller.address, caller.impersonator_id, caller.plugin)
        # No lock on the common path: at worst an event is created twice, and setdefault drops one.
        if key not in self._waiting:
            self._add(key, self._events.event(FileAction.DOWNLOADED, caller, node))

    def flush(self) -> None:
        """Write the buffered events; if the database is unavailable, retry later."""
        # The timer may have begun to write when the process stops. close() then waits for it, because
        # otherwise the events would be lost.
        with self._writing:
            self._write()

    def close(self) -> None:
        """Write the buffered events, and stop."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        self.flush()
        # A failed flush schedules a retry, which must not run after the shutdown.
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()

    def _write(self) -> None:
        with self._lock:
            # The buffer is swapped under the lock and written without it, so requests do not wait for
            # the database.
            waiting, self._waiting, self._timer = self._waiting, {}, None
        try:
            if waiting:
                self._events.record_all(waiting.values())
        except StrongroomError:
            # The database is unavailable, which is already logged.
            self._keep(waiting)
        except Exception:
            logger.exception("Cannot write download events, retrying later")
            self._keep(waiting)

    def _add(self, key: _Key, event: FileEvent) -> None:
        with self._lock:
            self._waiting.setdefault(key, event)
            self._schedule()

    def _keep(self, events: dict[_Key, FileEvent]) -> None:
        """Buffer events for a retry; the oldest are dropped above ``_MAX_WAITING``."""
        with self._lock:
            newest = dict(list({**events, **self._waiting}.items())[-_MAX_WAITING:])
            lost = len({**events, **self._waiting}) - len(newest)
            self._waiting = newest
            self._schedule()
        if lost:
            logger.error("Dropped %d download events: the database is unavailable", lost)

    def _schedule(self) -> None:
        if self._timer is None:
            self._timer = Timer(_INTERVAL, self.flush)
            # A daemon thread does not delay the exit; close() writes the remaining events.
            self._timer.daemon = True
            self._timer.start()
