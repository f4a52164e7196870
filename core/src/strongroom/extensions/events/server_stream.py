"""The stream of the server: reads the audit chain as events.

Audit events are written in the transaction of each action, and the sequence of their chain has no gaps.
So it is the outbox of these events, and nothing is written twice. Only the listed members of a record
become data: client addresses, user agents and request ids stay in the audit log.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection

from strongroom.activity.audit.models import AuditRecord
from strongroom.activity.audit.sealing import seal
from strongroom.activity.audit.service import newest_sequence, records_after
from strongroom.activity.events.streams import Batch
from strongroom.foundation.database import Database
from strongroom.plugin_api.events import SERVER, Event
from strongroom.web.core_events import Convert, Outcome

Sources = Mapping[Outcome, tuple[str, Convert]]
"""The type and the data of events, by the action and outcome of audit records."""


def to_event(record: AuditRecord, sources: Sources) -> Event | None:
    """Return the event of an audit record, or ``None`` if it has none."""
    source = sources.get((record.action, record.outcome))
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


@dataclass(slots=True, eq=False, repr=False)
class ServerStream:
    """The source of :data:`~strongroom.plugin_api.events.SERVER`."""

    _sources: Sources

    def prepare(self, database: Database) -> None:
        """Give committed audit events their places in the chain."""
        seal(database)

    def read(self, connection: Connection, stream: str, after: int, limit: int) -> Batch:  # noqa: ARG002
        """Return the events among the next ``limit`` records."""
        records = records_after(connection, after, limit)
        events = [event for record in records if (event := to_event(record, self._sources)) is not None]
        last = records[-1].sequence if records else after
        return Batch(events, after, last, is_full=len(records) == limit)

    def newest(self, connection: Connection, stream: str) -> int:  # noqa: ARG002
        """Return the sequence of the newest record."""
        return newest_sequence(connection)

    def heads(self, connection: Connection, since: int | None) -> Mapping[str, int]:  # noqa: ARG002
        """Return the sequence of the newest record; finding it costs no more than checking its time."""
        return {SERVER: newest_sequence(connection)}
