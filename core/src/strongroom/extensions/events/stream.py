"""The streams of tenants: reads the changes of their files as events."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection, Select, bindparam, func, select

from strongroom.activity.events.declarations import acting_data
from strongroom.activity.events.streams import Batch
from strongroom.content.nodes.events import FileAction, FileEvent, file_events
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.plugin_api.events import Event

_OF_STREAM: Final = file_events.c.tenant_id == bindparam("stream")
_NEWEST: Final = func.max(file_events.c.sequence)

_AFTER: Final = Statement(
    select(file_events)
    .where(_OF_STREAM, file_events.c.sequence > bindparam("after"))
    .order_by(file_events.c.sequence)
    .limit(bindparam("limit")),
    FileEvent,
)
_NEWEST_OF_STREAM: Final = Statement(select(_NEWEST).where(_OF_STREAM))
_CHANGED_SINCE: Final = Statement(
    select(file_events.c.tenant_id, _NEWEST)
    .where(file_events.c.at >= bindparam("since"), file_events.c.sequence.is_not(None))
    .group_by(file_events.c.tenant_id)
)


def _all_heads() -> Select[Any]:
    # A loose index scan: one search of the index per tenant, where GROUP BY would read all events.
    first = select(func.min(file_events.c.tenant_id).label("id")).cte("streams", recursive=True)
    following = select(func.min(file_events.c.tenant_id)).where(file_events.c.tenant_id > first.c.id)
    streams = first.union_all(select(following.scalar_subquery()).where(first.c.id.is_not(None)))
    newest = select(_NEWEST).where(file_events.c.tenant_id == streams.c.id)
    return select(streams.c.id, newest.scalar_subquery()).where(streams.c.id.is_not(None))


_ALL_HEADS: Final = Statement(_all_heads())


def changes_after(connection: Connection, tenant_id: str, sequence: int, limit: int) -> list[FileEvent]:
    """Return the changes of a tenant after a sequence, the oldest first."""
    return _AFTER.all(connection, {"stream": tenant_id, "after": sequence, "limit": limit})


def newest_change(connection: Connection, tenant_id: str) -> int:
    """Return the sequence of the newest change of a tenant, or 0."""
    return _NEWEST_OF_STREAM.scalar(connection, {"stream": tenant_id}) or 0


class TenantStreams:
    """The source of the tenants' streams."""

    def prepare(self, database: Database) -> None:
        """Do nothing: a change has its number before its commit."""

    def read(self, connection: Connection, stream: str, after: int, limit: int) -> Batch:
        """Return the next ``limit`` changes."""
        changes = changes_after(connection, stream, after, limit)
        last = changes[-1].sequence if changes else None
        return Batch(list(map(_event, changes)), after, last or after, len(changes) == limit)

    def newest(self, connection: Connection, stream: str) -> int:
        """Return the sequence of the newest change."""
        return newest_change(connection, stream)

    def heads(self, connection: Connection, since: int | None) -> Mapping[str, int]:
        """Return the newest sequences of the tenants that have changed since a time, or of all."""
        if since is None:
            rows = _ALL_HEADS.all(connection)
        else:
            rows = _CHANGED_SINCE.all(connection, {"since": since})
        return {tenant_id: newest for tenant_id, newest in rows if newest is not None}


def _event(change: FileEvent) -> Event:
    moved = change.action == FileAction.MOVED
    return Event(
        id=change.id,
        type=change.action,
        stream=change.tenant_id,
        sequence=change.sequence or 0,
        subject=change.node_id,
        tenant_id=change.tenant_id,
        occurred_at=change.at,
        traceparent=change.traceparent,
        data={
            "fileId": change.node_id,
            "parentId": change.parent_id,
            **({"previousParentId": change.previous_parent_id} if moved else {}),
            "name": change.name,
            "revision": change.revision,
            "size": change.size,
            **acting_data(change.actor_id, change.on_behalf_of),
            **({"plugin": change.plugin} if change.plugin else {}),
        },
    )
