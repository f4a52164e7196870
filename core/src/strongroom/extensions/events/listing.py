"""Lists file events, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, select

from strongroom.content.nodes.events import FileEvent, file_events
from strongroom.content.tenants.memberships import Memberships
from strongroom.foundation.caller import Identity
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.database.statements import Statement
from strongroom.identity.users.service import UserService

Summaries = list[dict[str, str]]

_EVENTS: Final = Statement(
    select(file_events).where(file_events.c.id.in_(bindparam("event_ids", expanding=True))), FileEvent
)


@dataclass(frozen=True, slots=True)
class FileEventFilter:
    """Filter of file events; ``None`` matches any value.

    ``since`` (inclusive) and ``until`` (exclusive) are milliseconds since the Unix epoch.
    """

    node_id: str | None = None
    actor_id: str | None = None
    action: str | None = None
    since: int | None = None
    until: int | None = None

    def conditions(self, tenant_id: str) -> list[ColumnElement[bool]]:
        """Return the filter as conditions on :data:`file_events`."""
        columns = {"tenant_id": tenant_id} | {
            column: getattr(self, column) for column in ("node_id", "actor_id", "action")
        }
        conditions = [
            file_events.c[column] == value for column, value in columns.items() if value is not None
        ]
        if self.since is not None:
            conditions.append(file_events.c.at >= self.since)
        if self.until is not None:
            conditions.append(file_events.c.at < self.until)
        return conditions


@dataclass(slots=True, eq=False, repr=False)
class FileEventListing:
    """Lists the file events of a tenant for its administrators."""

    _database: Database
    _memberships: Memberships
    _users: UserService

    @replica_read
    def page(
        self, identity: Identity, tenant_id: str, chosen: FileEventFilter, paging: Paging
    ) -> tuple[Page[FileEvent], Summaries]:
        """Return a page of a tenant's events, newest first, and summaries of the users who acted.

        Raises:
            Forbidden: the caller is not an administrator of the tenant, whether or not it exists.
        """
        conditions = chosen.conditions(tenant_id)
        # Only ids, so that a deep page is an index scan that reads no event rows.
        query = select(file_events.c.id).where(*conditions)
        query = query.order_by(file_events.c.at.desc(), file_events.c.id.desc())
        count = select(func.count()).select_from(file_events).where(*conditions)
        with self._database.read() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
            ids = select_page(connection, query, count, paging, lambda row: str(row[0]))
            events = _events(connection, ids.items)
            represented = {event.on_behalf_of for event in events if event.on_behalf_of is not None}
            actors = self._users.summaries(
                connection, {event.actor_id for event in events} | represented
            )
            return ids.with_items(events), actors


def _events(connection: Connection, ids: Sequence[str]) -> list[FileEvent]:
    events = {event.id: event for event in _EVENTS.all(connection, {"event_ids": ids})}
    return [events[id_] for id_ in ids if id_ in events]
