"""Removes what is older than it need be, and says so in the chain itself.

The record of a removal holds the last link that went, and the chain goes on from there. Only that link
explains a chain that does not begin with its first record.
"""

from itertools import takewhile
from typing import Final

from sqlalchemy import Connection, delete, select

from strongroom.audit.chain import Link, lock_chain_head
from strongroom.audit.models import audit_events
from strongroom.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.database import Database
from strongroom.identity import Origin

PRUNE: Final = "audit.prune"
THROUGH: Final = "through"

_DAY: Final = 24 * 60 * 60 * 1000


class AuditRetention:
    """Prunes the chain.

    Args:
        database: where it is kept.
        clock: the time.
        audit: the record of each removal.
        days: how long a record is kept; 0: for ever.
        batch: how many records are removed at once, while nothing can be recorded.
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
        """Remove the chain's beginning up to the first record to be kept, and return how many went."""
        if self._days == 0:
            return 0
        before = self._clock.now() - self._days * _DAY
        removed = 0
        while count := self._prune_batch(before, origin):
            removed += count
        return removed

    def _prune_batch(self, before: int, origin: Origin) -> int:
        columns = (audit_events.c.sequence, audit_events.c.hash, audit_events.c.at)
        oldest = select(*columns).order_by(audit_events.c.sequence).limit(self._batch)
        with self._database.write() as connection:
            lock_chain_head(connection)
            rows = connection.execute(oldest).all()
            links = [
                Link(row.sequence, row.hash) for row in takewhile(lambda row: row.at < before, rows)
            ]
            if links:
                self._remove(connection, links[-1], before, origin)
        return len(links)

    def _remove(self, connection: Connection, last: Link, before: int, origin: Origin) -> None:
        details = {THROUGH: str(last), "before": iso_format(before)}
        # Recorded first: were nothing left, the chain would begin anew.
        self._audit.record(connection, AuditEvent(PRUNE, origin=origin, details=details))
        connection.execute(delete(audit_events).where(audit_events.c.sequence <= last.sequence))
