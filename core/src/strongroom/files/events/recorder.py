"""Records file events: changes with the change itself, downloads in batches after the response."""

import logging
from collections.abc import Iterable
from dataclasses import asdict
from threading import Lock, Timer
from typing import Final, Protocol

from sqlalchemy import Connection, insert

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.pruning import prune
from strongroom.database.statements import Statement
from strongroom.errors import StrongroomError
from strongroom.files.events.models import FileAction, FileEvent, file_events
from strongroom.identity import Identity
from strongroom.ids import new_id

logger = logging.getLogger(__name__)

_RECORD: Final = Statement(insert(file_events))
_DAY: Final = 24 * 60 * 60 * 1000
_INTERVAL: Final = 1.0
_MAX_WAITING: Final = 10_000

SENT: Final = (200, 206, 307)
"""The statuses of responses that give content out, or say which URL of a store does."""

_Key = tuple[str, str, str | None]


class Recorded(Protocol):
    """What an event says of a file or folder."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def tenant_id(self) -> str:
        """Its tenant."""

    @property
    def parent_id(self) -> str | None:
        """Its folder, or the tenant's root."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def size(self) -> int:
        """Its size, in bytes."""


class FileEvents:
    """The record of file events.

    Args:
        database: where they are kept.
        clock: the time.
        days: how long they are kept; 0: without end.
    """

    def __init__(self, database: Database, clock: Clock, days: int) -> None:
        self._database = database
        self._clock = clock
        self._days = days

    def record(
        self, connection: Connection, action: FileAction, identity: Identity, node: Recorded
    ) -> None:
        """Record a change, in the transaction that makes it."""
        _RECORD.change(connection, asdict(self.event(action, identity, node)))

    def record_all(self, events: Iterable[FileEvent]) -> None:
        """Record events in a transaction of their own."""
        with self._database.write(durable=False) as connection:
            for event in events:
                _RECORD.change(connection, asdict(event))

    def event(self, action: FileAction, identity: Identity, node: Recorded) -> FileEvent:
        """Return the event of an action at this moment."""
        return FileEvent(
            new_id(),
            self._clock.now(),
            node.tenant_id,
            node.id,
            action.value,
            identity.user_id,
            identity.address,
            node.name,
            None if node.parent_id == node.tenant_id else node.parent_id,
            node.size,
        )

    def prune(self) -> int:
        """Delete the events that have been kept for long enough, and return how many."""
        if self._days == 0:
            return 0
        old = file_events.c.at < self._clock.now() - self._days * _DAY
        return prune(self._database, file_events.c.id, old)

    def remove_all(self, tenant_id: str) -> int:
        """Delete all events of a tenant, and return how many."""
        return prune(self._database, file_events.c.id, file_events.c.tenant_id == tenant_id)


class DownloadRecorder:
    """Records downloads off the request path.

    A download changes nothing, and a transaction for each would cost more than the download. So events
    gather in memory and are written once a second, and when the process stops. A process that is
    killed loses the downloads of its last second. Several requests of one user for one file within
    that second, as for ranges, are one event.

    Args:
        events: writes them.
    """

    def __init__(self, events: FileEvents) -> None:
        self._events = events
        self._lock = Lock()
        self._waiting: dict[_Key, FileEvent] = {}
        self._timer: Timer | None = None

    def record(self, identity: Identity, node: Recorded) -> None:
        """Record that a user downloads a file."""
        key = (node.id, identity.user_id, identity.address)
        # Without the lock: a race costs a duplicate at most, which the lock then finds.
        if key not in self._waiting:
            self._add(key, self._events.event(FileAction.DOWNLOADED, identity, node))

    def flush(self) -> None:
        """Write what has gathered; if the database is unavailable it is tried again later."""
        with self._lock:
            waiting, self._waiting, self._timer = self._waiting, {}, None
        try:
            if waiting:
                self._events.record_all(waiting.values())
        except StrongroomError:
            # The database is away, which the log says already.
            self._keep(waiting)
        except Exception:
            logger.exception("Downloads could not be recorded yet")
            self._keep(waiting)

    def close(self) -> None:
        """Write what has gathered, and stop."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
        self.flush()
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()

    def _add(self, key: _Key, event: FileEvent) -> None:
        with self._lock:
            self._waiting.setdefault(key, event)
            self._schedule()

    def _keep(self, events: dict[_Key, FileEvent]) -> None:
        """Keep events for another try, but no more than fit."""
        with self._lock:
            kept = dict(list({**events, **self._waiting}.items())[-_MAX_WAITING:])
            lost = len({**events, **self._waiting}) - len(kept)
            self._waiting = kept
            self._schedule()
        if lost:
            logger.error("%d downloads are not recorded: the database is unavailable", lost)

    def _schedule(self) -> None:
        if self._timer is None:
            self._timer = Timer(_INTERVAL, self.flush)
            self._timer.daemon = True
            self._timer.start()
