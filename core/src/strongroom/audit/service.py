"""Records audit events in the transaction of the audited change, so that both or neither commit."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import Connection, bindparam, insert

from strongroom.audit.chain import chain_hash, lock_chain_head
from strongroom.audit.models import FAILURE, SUCCESS, AuditRecord, audit_events
from strongroom.clock import Clock
from strongroom.database.statements import SPELLED_JSON, Statement
from strongroom.identity import Origin

__all__ = ["FAILURE", "SUCCESS", "AuditEvent", "AuditService"]

_APPEND: Final = Statement(
    insert(audit_events).values(
        {
            **{column: bindparam(column) for column in AuditRecord.__slots__},
            "details": bindparam("details", type_=SPELLED_JSON),
        }
    )
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


class AuditService:
    """Writes the chain of audit events.

    Args:
        observe: called with each event as it is written; the transaction may still be rolled back.
    """

    def __init__(self, clock: Clock, observe: Callable[[AuditEvent], None] | None = None) -> None:
        self._clock = clock
        self._observe = observe

    def record(self, connection: Connection, event: AuditEvent) -> None:
        """Append an event to the chain, within the caller's writing transaction.

        This locks the chain until the commit, and all other writers of events wait. So call it last.
        """
        last = lock_chain_head(connection)
        row = self._row(last.sequence + 1, event)
        link = {"details": json.dumps(row["details"]), "hash": chain_hash(last.hash, row)}
        _APPEND.change(connection, {**row, **link})
        if self._observe is not None:
            self._observe(event)

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
