"""Verifies the chain of audit records, and removes the oldest ones.

The record of a deletion contains the last deleted link, and the remaining chain continues from it. The
verifier accepts a chain that does not begin with record 1 only with such a link.
"""

import hmac
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import pairwise, takewhile
from typing import Any, Final

from sqlalchemy import Connection, Text, bindparam, cast, delete, func, select

from strongroom.activity.audit.chain import GENESIS, Link, append_rows, chain_hash, lock_chain
from strongroom.activity.audit.models import audit_events
from strongroom.activity.audit.sealing import seal
from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import DAY, Clock, iso_format
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.key_ranges import RANGES, KeyRange, RangeBatch
from strongroom.foundation.database.pace import current_pace
from strongroom.foundation.database.range_work import Keep
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
        seal(self._database)
        before = self._clock.now() - self._days * DAY
        removed = 0
        # In batches, because each one holds the lock on the chain until its commit.
        while count := self._prune_batch(before, origin):
            removed += count
            if not current_pace().allows_next(count):
                break
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
        record = self._audit.row(AuditEvent(PRUNE, origin=origin, details=details))
        # At once, because the rest of the chain begins with the link in it. Before deleting, because an
        # empty chain would restart at record 1.
        append_rows(connection, [record])
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
        self.reason = reason


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
        seal(self._database)
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
        seal(self._database)
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


RANGE_BATCH = 2000
"""Number of records of a batch of :class:`ChainVerification`."""

_BETWEEN: Final = Statement(
    _IN_ORDER.where(
        audit_events.c.sequence > bindparam("after"), audit_events.c.sequence <= bindparam("last")
    ).limit(bindparam("limit")),
    to_record,
)
_HASH: Final = Statement(
    select(audit_events.c.hash).where(audit_events.c.sequence == bindparam("of_sequence"))
)
_LOWEST: Final = -(2**62)
_HIGHEST: Final = 2**62


class ProgressChanged(Exception):
    """The stored progress was not written by this server; the message contains the remedy."""


@dataclass(frozen=True, slots=True)
class _RangeState:
    """What the range of a chain keeps: the links around its verified records, and its first fault."""

    start: str
    link: str
    fault: tuple[int, str] | None = None


class ChainVerification:
    """Verifies the chain in ranges, each from the stored hash before it; a task.

    A range ends with the link that the next one begins with, so valid ranges are a valid chain. The
    progress is signed. An attacker with write access to the database can at most restore the signed
    progress of the same run, which says that the records were valid then.

    Args:
        sign: returns a keyed hash of a text.
        expected: see :meth:`AuditVerifier.verify`.
    """

    name: Final = "audit verification"

    def __init__(
        self, database: Database, sign: Callable[[str], str], expected: Link | None = None
    ) -> None:
        self._database = database
        self._sign = sign
        self._expected = expected
        self.verified = Verified(0, GENESIS)

    def count(self, connection: Connection) -> int:
        """Return the number of records."""
        ((first, last),) = _ENDS.all(connection)
        return last - first + 1 if last else 0

    def split(self, connection: Connection) -> Sequence[str]:
        """Return the sequences that separate ranges of equal size."""
        ((first, last),) = _ENDS.all(connection)
        total = last - first + 1 if last else 0
        count = min(RANGES, total // (4 * RANGE_BATCH))
        return [str(first - 1 + number * total // count) for number in range(1, count)]

    def read(self, key_range: KeyRange, _keep: Keep) -> RangeBatch:
        """Verify the next records of a range; a fault ends it."""
        state = self._load(key_range) if key_range.state else None
        try:
            with self._database.snapshot() as connection:
                start, records = self._next(connection, key_range, state)
            start, link = self._follow(key_range, start, records)
        except ChainBroken as error:
            place = state or _RangeState("", "")
            fault = (error.sequence, error.reason)
            return self._batch(key_range, replace(place, fault=fault), 0, is_last=True)
        after = _RangeState(state.start if state else str(start), str(link))
        return self._batch(key_range, after, len(records), is_last=len(records) < RANGE_BATCH)

    def finish(self, ranges: Sequence[KeyRange]) -> None:
        """Compare the ends of the ranges, and verify the records that were added since.

        Raises:
            ChainBroken: as :meth:`AuditVerifier.verify`.
            ProgressChanged: the progress was changed.
        """
        states = [self._load(key_range) for key_range in ranges]
        if faults := [state.fault for state in states if state.fault]:
            raise ChainBroken(*min(faults))
        self._require_joints(ranges, states)
        last = Link.parse(states[-1].link)
        self._compare_expected(last)
        later = self._expected if self._expected and self._expected.sequence > last.sequence else None
        rest = AuditVerifier(self._database).verify(later, after=last)
        rows = sum(key_range.rows for key_range in ranges)
        self.verified = Verified(rows + rest.records, rest.last)

    def _next(
        self, connection: Connection, key_range: KeyRange, state: _RangeState | None
    ) -> tuple[Link, list[dict[str, Any]]]:
        """Return the link before the next records of a range, and the records."""
        first = first_link(connection)
        if state is not None:
            start = Link.parse(state.link)
        elif key_range.first is None:
            start = first
        else:
            start = self._stored_link(connection, int(key_range.first), first)
        # Retention may have removed the records after it.
        start = first if first.sequence > start.sequence else start
        # A record before the first link is a fault, too.
        after = start.sequence if state or key_range.first else _LOWEST
        last = _HIGHEST if key_range.last is None else int(key_range.last)
        bounds = {"after": after, "last": last, "limit": RANGE_BATCH}
        return start, _BETWEEN.all(connection, bounds)

    def _stored_link(self, connection: Connection, sequence: int, first: Link) -> Link:
        if sequence <= first.sequence:
            return first
        stored = _HASH.scalar(connection, {"of_sequence": sequence})
        if stored is None:
            raise ChainBroken(sequence, "was removed")
        return Link(sequence, stored)

    def _follow(
        self, key_range: KeyRange, start: Link, records: Sequence[Mapping[str, Any]]
    ) -> tuple[Link, Link]:
        link = start
        for record in records:
            link = follow(link, record)
        is_last = len(records) < RANGE_BATCH and key_range.last is not None
        if is_last and link.sequence < int(key_range.last or 0):
            raise ChainBroken(link.sequence + 1, "was removed")
        return start, link

    def _batch(self, key_range: KeyRange, state: _RangeState, rows: int, *, is_last: bool) -> RangeBatch:
        content = json.dumps([state.start, state.link, state.fault, is_last])
        signed = f"{self._signature(key_range, content)}{content}"
        reached = state.link.partition(":")[0]
        return RangeBatch(reached, rows, is_last, lambda _: int(bool(state.fault)), signed)

    def _load(self, key_range: KeyRange) -> _RangeState:
        signature, content = key_range.state[:64], key_range.state[64:]
        is_signed = hmac.compare_digest(signature, self._signature(key_range, content))
        start, link, fault, is_done = json.loads(content) if is_signed else ("", "", None, None)
        if is_done is not key_range.is_done:
            raise ProgressChanged("the stored progress was changed; repeat the command with --restart")
        return _RangeState(start, link, tuple(fault) if fault else None)

    def _signature(self, key_range: KeyRange, content: str) -> str:
        place = [key_range.run, key_range.begun_at, key_range.number, key_range.first, key_range.last]
        return self._sign(json.dumps([*place, content]))

    def _require_joints(self, ranges: Sequence[KeyRange], states: Sequence[_RangeState]) -> None:
        bounds = [None, *(key_range.last for key_range in ranges)]
        if [*(key_range.first for key_range in ranges), None] != bounds:
            raise ProgressChanged("the stored progress was changed; repeat the command with --restart")
        for (before, after), key_range in zip(pairwise(states), ranges, strict=False):
            start = Link.parse(after.start)
            if after.start != before.link and start.sequence <= int(key_range.last or 0):
                raise ChainBroken(start.sequence, "was changed during the verification")

    def _compare_expected(self, last: Link) -> None:
        expected = self._expected
        if expected is None or expected.sequence > last.sequence:
            return
        with self._database.snapshot() as connection:
            first = first_link(connection)
            stored = _HASH.scalar(connection, {"of_sequence": expected.sequence})
        _require_reached(first, last, expected)
        link = first if expected.sequence == first.sequence else Link(expected.sequence, stored)
        _compare(link, expected)
