"""Streams of events: what a source of events provides, and the log that joins all sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from sqlalchemy import Connection

from strongroom.foundation.database import Database
from strongroom.plugin_api.events import SERVER, Event, EventLog, EventType

BATCH: Final = 200


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive events of a stream.

    Args:
        last: the last sequence that was read; it may be of a record that is no event.
        is_full: whether more may follow.
    """

    events: Sequence[Event]
    after: int
    last: int
    is_full: bool


class EventSource(Protocol):
    """The table of one feature, read as events.

    Sequences become visible in their order: a reader that has seen one has seen all lower ones.
    """

    def prepare(self, database: Database) -> None:
        """Make all committed events readable. Called before a read, without a transaction."""

    def read(self, connection: Connection, stream: str, after: int, limit: int) -> Batch:
        """Return events of a stream, from the one after the sequence ``after``."""

    def newest(self, connection: Connection, stream: str) -> int:
        """Return the newest sequence of a stream, or 0."""

    def heads(self, connection: Connection, since: int | None) -> Mapping[str, int]:
        """Return the newest sequences of the streams that have changed since a time, or of all.

        ``since`` is in milliseconds since the Unix epoch.
        """


@dataclass(slots=True, eq=False, repr=False)
class CommittedEvents(EventLog):
    """The events of all sources.

    Args:
        server: the source of :data:`SERVER`.
        tenants: the source of all other streams.
        types: all types by name.
    """

    _database: Database
    _server: EventSource
    _tenants: EventSource
    _types: Mapping[str, EventType]

    def types(self) -> Mapping[str, EventType]:
        return self._types

    def read(self, stream: str, after: int, limit: int = 100) -> Sequence[Event]:
        events: list[Event] = []
        while len(events) < limit:
            batch = self.batch(stream, after, limit - len(events))
            events += batch.events
            after = batch.last
            if not batch.is_full:
                break
        return events

    def batch(self, stream: str, after: int, limit: int = BATCH) -> Batch:
        """Return the events among the next ``limit`` records of a stream."""
        source = self._source(stream)
        source.prepare(self._database)
        with self._database.read_one() as connection:
            return source.read(connection, stream, after, limit)

    def newest(self, stream: str) -> int:
        source = self._source(stream)
        source.prepare(self._database)
        with self._database.read_one() as connection:
            return source.newest(connection, stream)

    def prepare(self) -> None:
        """Make all committed events readable, before :meth:`heads`."""
        self._server.prepare(self._database)

    def heads(self, connection: Connection, since: int | None = None) -> dict[str, int]:
        """Return the newest sequences of the streams that have changed since a time, or of all."""
        return {
            **self._server.heads(connection, since),
            **self._tenants.heads(connection, since),
        }

    def _source(self, stream: str) -> EventSource:
        return self._server if stream == SERVER else self._tenants
