"""Lists audit records, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, select

from strongroom.audit.models import AuditRecord, audit_events
from strongroom.database import Database
from strongroom.database.paging import Page, Paging, select_page
from strongroom.database.statements import Statement
from strongroom.users.service import UserService

Summaries = list[dict[str, str]]

_SEQUENCE: Final = audit_events.c.sequence

_ENDS: Final = Statement(
    select(*(select(end(_SEQUENCE)).scalar_subquery() for end in (func.min, func.max)))
)
_RECORDS: Final = Statement(
    select(audit_events).where(_SEQUENCE.in_(bindparam("sequences", expanding=True))), AuditRecord
)


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
        wanted = [(audit_events.c[column], getattr(self, column)) for column in columns]
        conditions = [column == value for column, value in wanted if value is not None]
        if self.since is not None:
            conditions.append(audit_events.c.at >= self.since)
        if self.until is not None:
            conditions.append(audit_events.c.at < self.until)
        return conditions


class AuditListing:
    """Lists the records of the chain for administrators."""

    def __init__(self, database: Database, users: UserService) -> None:
        self._database = database
        self._users = users

    def page(self, wanted: AuditFilter, paging: Paging) -> tuple[Page[AuditRecord], Summaries]:
        """Return a page of matching records, newest first, and summaries of their actors."""
        conditions = wanted.conditions()
        with self._database.read() as connection:
            if conditions:
                found = _found(connection, conditions, paging, by_time=wanted.is_of_a_time)
            else:
                found = _unfiltered(connection, paging)
            records = _records(connection, found.items)
            actors = {record.actor_id for record in records if record.actor_id is not None}
            return Page(records, found.total, paging), self._users.summaries(connection, actors)


def _found(
    connection: Connection,
    conditions: Sequence[ColumnElement[bool]],
    paging: Paging,
    *,
    by_time: bool,
) -> Page[int]:
    # Select only the sequence, so that skipping to a deep page scans an index and not the records.
    query = select(_SEQUENCE).where(*conditions).order_by(*_newest_first(by_time=by_time))
    count = select(func.count()).select_from(audit_events).where(*conditions)
    return select_page(connection, query, count, paging, lambda row: int(row.sequence))


def _newest_first(*, by_time: bool) -> list[ColumnElement[Any]]:
    """Return the order of a page; for a filter by time, the order of the index on ``at``."""
    return [audit_events.c.at.desc(), _SEQUENCE.desc()] if by_time else [_SEQUENCE.desc()]


def _unfiltered(connection: Connection, paging: Paging) -> Page[int]:
    # The chain has no gaps, so the sequences of any page follow from the first and the last one. This
    # replaces a count of all rows and an OFFSET.
    ((first, last),) = _ENDS.all(connection)
    if last is None:
        return Page([], 0, paging)
    newest = last - paging.offset
    return Page(range(newest, newest - paging.size, -1), last - first + 1, paging)


def _records(connection: Connection, sequences: Sequence[int]) -> list[AuditRecord]:
    found = _RECORDS.all(connection, {"sequences": sequences})
    records = {record.sequence: record for record in found}
    # Retention may have deleted a record since its sequence was selected.
    return [records[sequence] for sequence in sequences if sequence in records]
