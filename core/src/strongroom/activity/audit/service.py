"""Appends events to the audit log, a chain of hashes, and lists them.

The hashes have no key. An attacker with write access to the database can recompute the whole chain or
remove its newest records. Both are detected only by comparison with a link that was stored elsewhere.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    Text,
    bindparam,
    cast,
    func,
    insert,
    select,
)
from sqlalchemy.sql.base import Executable

from strongroom.activity.audit.models import UNCHAINED, AuditRecord, audit_events
from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
from strongroom.clock import Clock
from strongroom.foundation.caller import Origin, attribute_action
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import AdvisoryLock, Change, execute_together
from strongroom.foundation.database.commit_signal import mark_topic
from strongroom.foundation.database.paging import Page, Paging, page_after, select_page
from strongroom.foundation.database.statements import Statement
from strongroom.plugin_api.events import ON_BEHALF_OF, SERVER
from strongroom.plugin_api.tracing import traceparent

__all__ = ["FAILURE", "SUCCESS", "AuditEvent", "AuditService"]

_LOCK: Final = AdvisoryLock(0x41554454)
_SEQUENCE: Final = "sequence"
_LINK = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Link:
    """The sequence number of a record, counted from 1, and its hash; as text ``SEQUENCE:HASH``."""

    sequence: int
    hash: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash}"

    @classmethod
    def parse(cls, link: str) -> Self:
        """Parse ``SEQUENCE:HASH``.

        Raises:
            ValueError: the text has another format.
        """
        match = _LINK.fullmatch(link)
        if match is None:
            raise ValueError(f"{link!r} is not a sequence, a colon, and 64 hexadecimal digits")
        return cls(int(match[1]), match[2])


GENESIS: Final = Link(0, "0" * 64)
"""The link before the first record."""


def chain_hash(previous: str, row: Mapping[str, object]) -> str:
    """Return the SHA-256 of the previous hash and of a record's chained columns, in hexadecimal."""
    head, tail = _content(row)
    content = b"".join((previous.encode(), head, str(row[_SEQUENCE]).encode(), tail))
    return hashlib.sha256(content).hexdigest()


def lock_chain(connection: Connection, after: Change | None = None) -> None:
    """Lock the chain until the caller's transaction ends; all other writers of events wait.

    Args:
        after: a change before it, which locks rows that transactions lock before the chain.
    """
    if after is None:
        _LOCK.acquire(connection)
    else:
        _LOCK.acquire_after(connection, after)
    # The chain is the outbox of the server's stream of events.
    mark_topic(connection, SERVER)


def _content(row: Mapping[str, object]) -> tuple[bytes, bytes]:
    """Return the hashed JSON of a record, without its sequence number: the text before and after it."""
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    for name, value in row.items():
        if name in UNCHAINED or name == _SEQUENCE:
            continue
        (before if name < _SEQUENCE else after)[name] = value
    return b'\n%s,"sequence":' % _spell(before)[:-1], b"," + _spell(after)[1:]


def _spell(columns: Mapping[str, object]) -> bytes:
    # Sorted keys and fixed separators: the verifier must get the same bytes from the stored row.
    text = json.dumps(columns, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    # JSON text may contain a lone surrogate, which strict UTF-8 cannot encode.
    return text.encode("utf-8", "surrogatepass")


def _append(make_hash: Callable[..., ColumnElement[str]]) -> Executable:
    """Return the INSERT of a record that the database itself links to the last one.

    Reading the last link and inserting the next one are one statement, so that all other writers of
    events wait for one round trip and the commit only.
    """
    events = audit_events.c
    newest = select(events.hash).order_by(events.sequence.desc()).limit(1).scalar_subquery()
    last = select(
        func.coalesce(select(func.max(events.sequence)).scalar_subquery(), GENESIS.sequence).label("n"),
        func.coalesce(newest, GENESIS.hash).label("hash"),
    ).subquery("last")
    sequence = last.c.n + 1
    head, tail = bindparam("head", type_=LargeBinary()), bindparam("tail", type_=LargeBinary())
    values: dict[str, ColumnElement[Any]] = {
        **{column.name: bindparam(column.name, type_=column.type) for column in events},
        _SEQUENCE: sequence,
        "hash": make_hash(last.c.hash, head, sequence, tail),
    }
    return insert(audit_events).from_select(list(values), select(*values.values()))


def _hash_in_sqlite(*parts: ColumnElement[Any]) -> ColumnElement[str]:
    return func.sha256(*parts)


def _hash_in_postgresql(
    previous: ColumnElement[str],
    head: ColumnElement[bytes],
    sequence: ColumnElement[int],
    tail: ColumnElement[bytes],
) -> ColumnElement[str]:
    texts = (func.convert_to(previous, "UTF8"), func.convert_to(cast(sequence, Text), "UTF8"))
    content = texts[0].op("||")(head).op("||")(texts[1]).op("||")(tail)
    return func.encode(func.sha256(content), "hex")


_HASHES: Final[Mapping[str, Callable[..., ColumnElement[str]]]] = {
    "sqlite": _hash_in_sqlite,
    "postgresql": _hash_in_postgresql,
}
_APPEND: Final = Statement(lambda dialect: _append(_HASHES[dialect]))


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
    """Writes the chain of audit events.

    Args:
        observe: called with each event as it is written; the transaction may still be rolled back.
    """

    _clock: Clock
    _observe: Callable[[AuditEvent], None] | None = None

    def record(self, connection: Connection, event: AuditEvent) -> None:
        """Append an event to the chain, within the caller's writing transaction.

        This locks the chain until the commit, and all other writers of events wait. So call it last.
        """
        self.record_all(connection, [event])

    def record_all(self, connection: Connection, events: Sequence[AuditEvent]) -> None:
        """Append events to the chain in their order, as :meth:`record` appends one."""
        if events:
            lock_chain(connection)
        for event in events:
            # One statement for each: a record contains the hash of the record before.
            execute_together(connection, [self.append_change(event)])

    def append_change(self, event: AuditEvent) -> Change:
        """Return the change that appends an event, for a caller that has locked the chain."""
        row = self._row(event)
        head, tail = _content(row)
        if self._observe is not None:
            self._observe(event)
        return Change(_APPEND, {**row, "traceparent": traceparent(), "head": head, "tail": tail})

    def _row(self, event: AuditEvent) -> dict[str, object]:
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
