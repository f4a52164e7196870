"""Records events in the audit log, and lists them.

On SQLite, which has one writer, a transaction appends its events to the chain. On PostgreSQL it inserts
them into a table of events without a place in the chain, so that it waits for no other one; see
:mod:`strongroom.activity.audit.sealing`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select

from strongroom.activity.audit.chain import append_change
from strongroom.activity.audit.models import AuditRecord, audit_events, unsealed_audit_events
from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
from strongroom.activity.audit.sealing import seal_if_available
from strongroom.clock import Clock
from strongroom.foundation.caller import Origin, attribute_action
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.database.commit_signal import UNSEALED, mark_topic
from strongroom.foundation.database.paging import Page, Paging, page_after, select_page
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.database.statements import Statement
from strongroom.plugin_api.events import ON_BEHALF_OF, SERVER
from strongroom.plugin_api.tracing import traceparent

__all__ = ["FAILURE", "SUCCESS", "AuditEvent", "AuditService"]

_CONTENT: Final = [column for column in unsealed_audit_events.c if column.name != "id"]
_RECORD: Final = Statement(
    insert(unsealed_audit_events).values({column.name: bindparam(column.name) for column in _CONTENT})
)


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """An event to record. ``action`` is ``noun.verb``; ``details`` must not contain secrets."""

    action: str
    outcome: str = SUCCESS
    actor_id: str | None = None
    target_type: str | None = None
    target_id: str | None = None
    origin: Origin = field(default_factory=Origin)
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class AuditService:
    """Records audit events.

    Args:
        observe: called with each event as it is written; the transaction may still be rolled back.
    """

    _clock: Clock
    _observe: Callable[[AuditEvent], None] | None = None

    def record(self, connection: Connection, event: AuditEvent) -> None:
        """Record an event, within the caller's writing transaction."""
        execute_together(connection, [self.record_change(connection, event)])

    def record_all(self, connection: Connection, events: Sequence[AuditEvent]) -> None:
        """Record events in their order, as :meth:`record` records one."""
        for event in events:
            self.record(connection, event)

    def record_change(self, connection: Connection, event: AuditEvent) -> Change:
        """Return the change that records an event, to be executed with others of the transaction."""
        if self._observe is not None:
            self._observe(event)
        row = self.row(event)
        if connection.dialect.name != "postgresql":
            mark_topic(connection, SERVER)
            return append_change(row)
        mark_topic(connection, UNSEALED)
        return Change(_RECORD, row)

    def row(self, event: AuditEvent) -> dict[str, object]:
        """Return the columns of an event's record, except for its place in the chain."""
        actor_id, details = _attributed(event)
        return {
            "at": self._clock.now(),
            "action": event.action,
            "outcome": event.outcome,
            "actor_id": actor_id,
            "target_type": event.target_type,
            "target_id": event.target_id,
            "address": event.origin.address,
            "user_agent": event.origin.user_agent,
            "request_id": event.origin.request_id,
            "details": details,
            "traceparent": traceparent(),
        }


def _attributed(event: AuditEvent) -> tuple[str | None, dict[str, str]]:
    """Return who acted, and the details: of an impersonation, the administrator, and also the user."""
    plugin, client_id = event.origin.plugin, event.origin.client_id
    details = {**event.details, **({"plugin": plugin} if plugin else {})}
    details |= {"client": client_id} if client_id else {}
    if event.actor_id is None:
        return None, details
    actor_id, on_behalf_of = attribute_action(event.actor_id, event.origin.impersonator_id)
    return actor_id, {**details, ON_BEHALF_OF.name: on_behalf_of} if on_behalf_of else details


Summaries = list[dict[str, str]]


class UserNames(Protocol):
    """Knows the names of users; the audit log itself has only their ids."""

    def summaries(self, connection: Connection, user_ids: Iterable[str]) -> Summaries:
        """Return the id and the name of each user that exists."""


_ROW_SEQUENCE: Final = audit_events.c.sequence

_ENDS: Final = Statement(
    select(*(select(end(_ROW_SEQUENCE)).scalar_subquery() for end in (func.min, func.max)))
)
_RECORDS: Final = Statement(
    select(audit_events).where(_ROW_SEQUENCE.in_(bindparam("sequences", expanding=True))),
    AuditRecord,
)
_RECORDS_AFTER: Final = Statement(
    select(audit_events)
    .where(bindparam("after") < _ROW_SEQUENCE)
    .order_by(_ROW_SEQUENCE)
    .limit(bindparam("limit")),
    AuditRecord,
)


def records_after(connection: Connection, sequence: int, limit: int) -> list[AuditRecord]:
    """Return the records after a sequence, the oldest first."""
    return _RECORDS_AFTER.all(connection, {"after": sequence, "limit": limit})


def newest_sequence(connection: Connection) -> int:
    """Return the sequence of the last record, or 0."""
    ((_, last),) = _ENDS.all(connection)
    return last or 0


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """The filter of a list; ``None`` matches every record.

    ``since`` (inclusive) and ``until`` (exclusive) are milliseconds since the Unix epoch.
    """

    action: str | None = None
    outcome: str | None = None
    actor_id: str | None = None
    target_type: str | None = None
    target_id: str | None = None
    address: str | None = None
    since: int | None = None
    until: int | None = None

    @property
    def is_of_a_time(self) -> bool:
        """Whether the filter has a lower or upper bound of time."""
        return self.since is not None or self.until is not None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the filter as conditions on :data:`audit_events`."""
        columns = ("action", "outcome", "actor_id", "target_type", "target_id", "address")
        pairs = [(audit_events.c[column], getattr(self, column)) for column in columns]
        conditions = [column == value for column, value in pairs if value is not None]
        if self.since is not None:
            conditions.append(audit_events.c.at >= self.since)
        if self.until is not None:
            conditions.append(audit_events.c.at < self.until)
        return conditions


@dataclass(slots=True, eq=False, repr=False)
class AuditListing:
    """Lists the records of the chain for administrators."""

    _database: Database
    _users: UserNames

    def page(self, chosen: AuditFilter, paging: Paging) -> tuple[Page[AuditRecord], Summaries]:
        """Return a page of matching records, newest first, and summaries of their actors."""
        # By the primary, before the replica is asked, which then has the sealed records.
        seal_if_available(self._database)
        return self._page(chosen, paging)

    @replica_read
    def _page(self, chosen: AuditFilter, paging: Paging) -> tuple[Page[AuditRecord], Summaries]:
        conditions = chosen.conditions()
        with self._database.read() as connection:
            if conditions:
                page = _found(connection, conditions, paging, by_time=chosen.is_of_a_time)
            else:
                page = _unfiltered(connection, paging)
            records = read_records(connection, page.items)
            users = {user for record in records for user in _acting(record) if user is not None}
            return page.with_items(records), self._users.summaries(connection, users)


def _acting(record: AuditRecord) -> tuple[str | None, str | None]:
    return record.actor_id, record.details.get(ON_BEHALF_OF.name)


def _found(
    connection: Connection,
    conditions: Sequence[ColumnElement[bool]],
    paging: Paging,
    *,
    by_time: bool,
) -> Page[int]:
    # Select only the sequence, so that skipping to a deep page scans an index and not the records.
    query = select(_ROW_SEQUENCE).where(*conditions).order_by(*_newest_first(by_time=by_time))
    count = select(func.count()).select_from(audit_events).where(*conditions)
    return select_page(connection, query, count, paging, lambda row: int(row[0]))


def _newest_first(*, by_time: bool) -> list[ColumnElement[Any]]:
    """Return the order of a page; for a filter by time, the order of the index on ``at``."""
    return [audit_events.c.at.desc(), _ROW_SEQUENCE.desc()] if by_time else [_ROW_SEQUENCE.desc()]


def _unfiltered(connection: Connection, paging: Paging) -> Page[int]:
    # The chain has no gaps, so the sequences of any page follow from the first and the last one. This
    # replaces a count of all rows and an OFFSET.
    ((first, last),) = _ENDS.all(connection)
    if last is None:
        return Page([], 0, paging)
    total = last - first + 1
    if paging.after is not None:
        newest_first = select(_ROW_SEQUENCE).order_by(*_newest_first(by_time=False))
        return page_after(connection, newest_first, total, paging, lambda row: int(row[0]))
    newest = last - paging.offset
    return Page(range(newest, newest - paging.size, -1), total, paging)


def read_records(connection: Connection, sequences: Sequence[int]) -> list[AuditRecord]:
    """Return the records that still exist, in the order of their sequences."""
    rows = _RECORDS.all(connection, {"sequences": sequences})
    records = {record.sequence: record for record in rows}
    # Retention may have deleted a record since its sequence was selected.
    return [records[sequence] for sequence in sequences if sequence in records]
