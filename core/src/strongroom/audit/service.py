"""Records what happened. A record is part of the transaction it tells of: neither is there alone."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, insert, select, text

from strongroom.audit.models import audit_events
from strongroom.clock import Clock
from strongroom.identity import Origin

SUCCESS: Final = "success"
FAILURE: Final = "failure"

_CHAIN_LOCK: Final = 0x41554454
_GENESIS: Final = "0" * 64


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What to record. ``action`` is ``noun.verb``; ``details`` hold nothing secret."""

    action: str
    outcome: str = SUCCESS
    actor_id: str | None = None
    target_type: str | None = None
    target_id: str | None = None
    origin: Origin = field(default_factory=Origin)
    details: Mapping[str, str] = field(default_factory=dict)


class AuditService:
    """Writes the chain of audit events."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def record(self, connection: Connection, event: AuditEvent) -> None:
        """Append an event to the chain, within the caller's writing transaction.

        The chain has one end, so from here to the commit others who record wait: call it last.
        """
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CHAIN_LOCK})
        last = connection.execute(
            select(audit_events.c.sequence, audit_events.c.hash)
            .order_by(audit_events.c.sequence.desc())
            .limit(1)
        ).first()
        sequence, previous = (last.sequence + 1, last.hash) if last else (1, _GENESIS)
        row = self._row(sequence, event)
        connection.execute(insert(audit_events).values(**row, hash=chain_hash(previous, row)))

    def _row(self, sequence: int, event: AuditEvent) -> dict[str, object]:
        return {
            "sequence": sequence,
            "at": self._clock.now(),
            "action": event.action,
            "outcome": event.outcome,
            "actor_id": event.actor_id,
            "target_type": event.target_type,
            "target_id": event.target_id,
            "address": event.origin.address,
            "user_agent": event.origin.user_agent,
            "request_id": event.origin.request_id,
            "details": dict(event.details),
        }


def chain_hash(previous: str, row: Mapping[str, object]) -> str:
    """Return the hash of a record: over the hash before it, and all of its own columns."""
    content = json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(f"{previous}\n{content}".encode()).hexdigest()
