"""Verifies the chain of audit records, and removes the oldest ones.

The record of a deletion contains the last deleted link, and the remaining chain continues from it. The
verifier accepts a chain that does not begin with record 1 only with such a link.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import takewhile
from typing import Any, Final

from sqlalchemy import Connection, Text, bindparam, cast, delete, func, select

from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.service import (
    GENESIS,
    AuditEvent,
    AuditService,
    Link,
    chain_hash,
    lock_chain,
)
from strongroom.clock import DAY, Clock, iso_format
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement

PRUNE: Final = "audit.prune"
THROUGH: Final = "through"


_OLDEST: Final = Statement(
    select(audit_events.c.sequence, audit_events.c.hash, audit_events.c.at)
    .order_by(audit_events.c.sequence)
    .limit(bindparam("count"))
)
_REMOVE: Final = Statement(delete(audit_events).where(audit_events.c.sequence <= bindparam("last")))


@dataclass(slots=True, eq=False, repr=False)
class AuditRetention:
    """Prunes the chain.

    Args:
        days: the retention time in days; 0 is unlimited.
        batch: records deleted per transaction. No event can be recorded during a transaction.
    """

    _database: Database
    _clock: Clock
    _audit: AuditService
    _days: int
    _: KW_ONLY
    batch: int = 5000

    def prune(self, origin: Origin) -> int:
        """Delete the oldest records up to the first one within the retention time; return how many."""
        if self._days == 0:
            return 0
        before = self._clock.now() - self._days * DAY
        removed = 0
        # In batches, because each one holds the lock on the chain until its commit.
        while count := self._prune_batch(before, origin):
            removed += count
        return removed

    def _prune_batch(self, before: int, origin: Origin) -> int:
        with self._database.write() as connection:
            lock_chain(connection)
            rows = _OLDEST.all(connection, {"count": self.batch})
            # Only a prefix of the chain may go, even if the clock was set back between two records.
            links = [
                Link(row.sequence, row.hash) for row in takewhile(lambda row: row.at < before, rows)
            ]
            if links:
                self._remove(connection, links[-1], before, origin)
        return len(links)

    def _remove(self, connection: Connection, last: Link, before: int, origin: Origin) -> None:
        details = {THROUGH: str(last), "before": iso_format(before)}
        # Append the record before deleting: an empty chain would restart at record 1.
        self._audit.record(connection, AuditEvent(PRUNE, origin=origin, details=details))
        _REMOVE.execute(connection, {"last": last.sequence})


_ROWS_IN_MEMORY: Final = 1000

# As text, because a manipulated column may not be valid JSON.
_DETAILS: Final = cast(audit_events.c.details, Text).label("details")
_OTHER_NAMES: Final = [
    column.name for column in audit_events.c if column.name not in {"details", "traceparent"}
]
RECORD_COLUMNS: Final = [*(audit_events.c[name] for name in _OTHER_NAMES), _DETAILS]
"""The columns that the chain protects, and the hash."""

RECORD_NAMES: Final = (*_OTHER_NAMES, "details")
"""The names of :data:`RECORD_COLUMNS`."""


def to_record(row: Any) -> dict[str, Any]:
    """Return a row of :data:`RECORD_COLUMNS` by the names of the columns."""
    return dict(zip(RECORD_NAMES, row, strict=True))


_IN_ORDER: Final = select(*RECORD_COLUMNS).order_by(audit_events.c.sequence)
_RECORDS: Final = Statement(_IN_ORDER, to_record)
_RECORDS_AFTER: Final = Statement(
    _IN_ORDER.where(audit_events.c.sequence > bindparam("after")), to_record
)
_ENDS: Final = Statement(
    select(*(select(end(audit_events.c.sequence)).scalar_subquery() for end in (func.min, func.max)))
)
_NEWEST_REMOVAL: Final = Statement(
    select(audit_events.c.sequence, _DETAILS)
    .where(audit_events.c.action == PRUNE)
    .order_by(audit_events.c.sequence.desc())
    .limit(1)
)


class ChainBroken(Exception):
    """The chain was modified; ``sequence`` is the number of the first invalid record."""

    def __init__(self, sequence: int, reason: str) -> None:
        super().__init__(f"record {sequence} {reason}")
        self.sequence = sequence


@dataclass(frozen=True, slots=True)
class Verified:
    """A valid chain: the number of its records, and its last link."""

    records: int
    last: Link


@dataclass(slots=True, eq=False, repr=False)
class AuditVerifier:
    """Verifies one snapshot of the chain in constant memory, without blocking writers."""

    _database: Database

    def count(self) -> int:
        """Return the number of records, which is known without counting them."""
        first, last = self._ends()
        return last - first + 1 if last else 0

    def newest(self) -> int:
        """Return the number of the newest record; 0 without one."""
        return self._ends()[1] or 0

    def _ends(self) -> tuple[int, int]:
        with self._database.read() as connection:
            (ends,) = _ENDS.all(connection)
        return ends[0], ends[1]

    def verify(
        self,
        expected: Link | None = None,
        progress: Callable[[int], None] = lambda _count: None,
        *,
        after: Link | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Verified:
        """Recompute every hash from the record and the hash before it.

        Args:
            after: a link up to which the chain is known to be valid; ignored if it was removed by
                retention.
            should_stop: called after each record; whether to verify no more of them.
            expected: a link that was read earlier and stored elsewhere. Only this comparison detects
                that the newest records were removed, or that the whole chain was recomputed.
            progress: called with 1 after each record.

        Raises:
            ChainBroken: a record was changed, removed or inserted, or the expected link is missing.
        """
        with self._database.snapshot() as connection:
            first = first_link(connection)
            last = beginning = after if after and after.sequence > first.sequence else first
            _compare(last, expected)
            for record in _records(connection, None if beginning is first else beginning):
                last = follow(last, record)
                _compare(last, expected)
                progress(1)
                if should_stop():
                    break
        _require_reached(beginning, last, expected)
        return Verified(last.sequence - beginning.sequence, last)


def _records(connection: Connection, after: Link | None) -> Iterator[dict[str, Any]]:
    """Yield the records in their order, without those that are known to be valid."""
    # Streamed, so that memory use does not depend on the length of the chain. Without a link, records
    # before the beginning are among them, because they are a fault.
    if after is None:
        return _RECORDS.stream(connection, batch=_ROWS_IN_MEMORY)
    return _RECORDS_AFTER.stream(connection, {"after": after.sequence}, batch=_ROWS_IN_MEMORY)


def first_link(connection: Connection) -> Link:
    """Return the link before the oldest record.

    Raises:
        ChainBroken: the record of a deletion was changed.
    """
    # After a deletion by retention, the chain begins at the link that the newest such record contains.
    removal = _NEWEST_REMOVAL.first(connection)
    if removal is None:
        return GENESIS
    try:
        return Link.parse(json.loads(removal.details)[THROUGH])
    except (KeyError, TypeError, ValueError) as error:
        raise ChainBroken(removal.sequence, "was changed") from error


def follow(previous: Link, record: Mapping[str, Any]) -> Link:
    """Return the link of a record, which follows another one.

    Args:
        record: the columns by name, with ``details`` as JSON text.

    Raises:
        ChainBroken: the record was changed, or does not follow.
    """
    sequence, expected = record["sequence"], previous.sequence + 1
    if sequence > expected:
        raise ChainBroken(expected, "was removed")
    if sequence < expected:
        raise ChainBroken(sequence, "precedes the records that retention deleted")
    link = Link(sequence, record["hash"])
    if link.hash != _recomputed_hash(previous, record):
        raise ChainBroken(sequence, "was changed, or does not follow the one before")
    return link


def _recomputed_hash(previous: Link, record: Mapping[str, Any]) -> str | None:
    content = dict(record)
    try:
        content["details"] = json.loads(content["details"])
        return chain_hash(previous.hash, content)
    except (TypeError, ValueError):
        return None


def _compare(link: Link, expected: Link | None) -> None:
    if expected and link.sequence == expected.sequence and link != expected:
        raise ChainBroken(link.sequence, "is not the one expected")


def _require_reached(beginning: Link, last: Link, expected: Link | None) -> None:
    if expected and expected.sequence < beginning.sequence:
        raise ChainBroken(expected.sequence, "was removed by retention; expect a newer one")
    if expected and expected.sequence > last.sequence:
        raise ChainBroken(last.sequence + 1, "was removed, and all that followed")
