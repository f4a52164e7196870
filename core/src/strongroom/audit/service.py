"""Appends events to the audit log, a chain of hashes.

The hashes have no key. An attacker with write access to the database can recompute the whole chain or
remove its newest records. Both are detected only by comparison with a link that was stored elsewhere.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from sqlalchemy import Connection, insert, select

from strongroom.audit.models import FAILURE, SUCCESS, audit_events
from strongroom.clock import Clock
from strongroom.database.locks import lock_until_commit
from strongroom.database.statements import Statement
from strongroom.identity import Origin

_LOCK: Final = 0x41554454
_LAST: Final = Statement(
    select(audit_events.c.sequence, audit_events.c.hash)
    .order_by(audit_events.c.sequence.desc())
    .limit(1)
)
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
    """Return the SHA-256 of the previous hash and all columns of a record, in hexadecimal digits."""
    # Sorted keys and fixed separators: the verifier must get the same bytes from the stored row.
    content = json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    # JSON text may contain a lone surrogate, which strict UTF-8 cannot encode.
    return hashlib.sha256(f"{previous}\n{content}".encode("utf-8", "surrogatepass")).hexdigest()


def lock_chain_head(connection: Connection) -> Link:
    """Lock the chain until the caller's transaction ends, and return its last link."""
    lock_until_commit(connection, _LOCK)
    last = _LAST.first(connection, {})
    return Link(*last) if last else GENESIS


__all__ = ["FAILURE", "SUCCESS", "AuditEvent", "AuditService"]

_APPEND: Final = Statement(insert(audit_events))


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
        _APPEND.execute(connection, {**row, "hash": chain_hash(last.hash, row)})
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
