"""Deletes audit records after the retention time, and records each deletion in the chain itself.

The record of a deletion contains the last deleted link, and the remaining chain continues from it. The
verifier accepts a chain that does not begin with record 1 only with such a link.
"""

from itertools import takewhile
from typing import Final

from sqlalchemy import Connection, bindparam, delete, select

from strongroom.audit.models import audit_events
from strongroom.audit.service import AuditEvent, AuditService, Link, lock_chain
from strongroom.clock import Clock, iso_format
from strongroom.database import Database
from strongroom.database.statements import Statement
from strongroom.identity import Origin

PRUNE: Final = "audit.prune"
THROUGH: Final = "through"

_DAY: Final = 24 * 60 * 60 * 1000

_OLDEST: Final = Statement(
    select(audit_events.c.sequence, audit_events.c.hash, audit_events.c.at)
    .order_by(audit_events.c.sequence)
    .limit(bindparam("count"))
)
_REMOVE: Final = Statement(delete(audit_events).where(audit_events.c.sequence <= bindparam("last")))


class AuditRetention:
    """Prunes the chain.

    Args:
        database: stores the chain.
        audit: records each deletion.
        days: the retention time in days; 0 is unlimited.
        batch: records deleted per transaction. No event can be recorded during a transaction.
    """

    def __init__(
        self, database: Database, clock: Clock, audit: AuditService, days: int, *, batch: int = 5000
    ) -> None:
        self._database = database
        self._clock = clock
        self._audit = audit
        self._days = days
        self._batch = batch

    def prune(self, origin: Origin) -> int:
        """Delete the oldest records up to the first one within the retention time; return how many."""
        if self._days == 0:
            return 0
        before = self._clock.now() - self._days * _DAY
        removed = 0
        # In batches, because each one holds the lock on the chain until its commit.
        while count := self._prune_batch(before, origin):
            removed += count
        return removed

    def _prune_batch(self, before: int, origin: Origin) -> int:
        with self._database.write() as connection:
            lock_chain(connection)
            rows = _OLDEST.all(connection, {"count": self._batch})
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
