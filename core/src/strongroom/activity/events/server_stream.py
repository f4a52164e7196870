"""The stream of the server: reads the audit chain as events.

The chain is written in the transaction of each action, and its sequence has no gaps. So it is the outbox
of these events, and nothing is written twice. Only the listed members of a record become data: client
addresses, user agents and request ids stay in the audit log.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection

from strongroom.activity.audit.models import AuditRecord
from strongroom.activity.audit.service import newest_sequence, records_after
from strongroom.activity.events.declarations import actor_data, details
from strongroom.activity.events.streams import Batch
from strongroom.plugin_api.events import SERVER, Event, EventType
from strongroom.web.feature import Convert, Data, Outcome, Record

NO_TYPES: Final[Mapping[str, EventType]] = {}

Sources = Mapping[Outcome, tuple[str, Convert]]
"""The type and the data of events, by the action and outcome of audit records."""


def event_of(
    record: AuditRecord, sources: Sources, more: Mapping[str, EventType] = field(default_factory=dict)
) -> Event | None:
    """Return the event of an audit record, or ``None`` if it has none.

    Args:
        sources: those of the core.
        more: the types of plugins by the action of their records.
    """
    source = sources.get((record.action, record.outcome)) or _source(more.get(record.action))
    if source is None:
        return None
    event_type, convert = source
    data = convert(record)
    return Event(
        id=f"{SERVER}-{record.sequence}",
        type=event_type,
        stream=SERVER,
        sequence=record.sequence,
        subject=record.target_id or record.actor_id or SERVER,
        tenant_id=data.get("tenantId"),
        occurred_at=record.at,
        traceparent=record.traceparent,
        data=data,
    )


def _source(event_type: EventType | None) -> tuple[str, Convert] | None:
    if event_type is None:
        return None
    names = [field.name for field in event_type.fields]

    def convert(record: Record) -> Data:
        return {**details(record, *names), **actor_data(record)}

    return event_type.name, convert


@dataclass(slots=True, eq=False, repr=False)
class ServerStream:
    """The source of :data:`~strongroom.plugin_api.events.SERVER`.

    Args:
        sources: those of the core.
        more: the types of plugins by the action of their records.
    """

    _sources: Sources
    _more: Mapping[str, EventType] = field(default_factory=dict)

    def read(self, connection: Connection, stream: str, after: int, limit: int) -> Batch:  # noqa: ARG002
        """Return the events among the next ``limit`` records."""
        records = records_after(connection, after, limit)
        events = [event for record in records if (event := self._event_of(record)) is not None]
        last = records[-1].sequence if records else after
        return Batch(events, after, last, is_full=len(records) == limit)

    def newest(self, connection: Connection, stream: str) -> int:  # noqa: ARG002
        """Return the sequence of the newest record."""
        return newest_sequence(connection)

    def heads(self, connection: Connection, since: int | None) -> Mapping[str, int]:  # noqa: ARG002
        """Return the sequence of the newest record; finding it costs no more than checking its time."""
        return {SERVER: newest_sequence(connection)}

    def _event_of(self, record: AuditRecord) -> Event | None:
        return event_of(record, self._sources, self._more)
