"""The tables of audit events: a hash chain of records, and the events that have no place in it yet."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Column, Index, Integer, String, Table

from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata


@dataclass(frozen=True, slots=True)
class AuditRecord:
    """A row of :data:`audit_events`. ``at`` is in milliseconds since the Unix epoch."""

    sequence: int
    at: int
    action: str
    outcome: str
    actor_id: str | None
    target_type: str | None
    target_id: str | None
    address: str | None
    user_agent: str | None
    request_id: str | None
    details: Mapping[str, str]
    hash: str
    traceparent: str | None


def _content() -> list[Column[Any]]:
    """Return the columns of an event."""
    return [
        Column("at", Timestamp, nullable=False),
        Column("action", String(64), nullable=False),
        Column("outcome", String(16), nullable=False),
        Column("actor_id", Id),
        Column("target_type", String(32)),
        Column("target_id", Name),
        Column("address", String(64)),
        Column("user_agent", String(512)),
        Column("request_id", String(64)),
        Column("details", JSON, nullable=False),
    ]


audit_events: Final = Table(
    "audit_events",
    metadata,
    Column(
        "sequence",
        BigInteger().with_variant(Integer, "sqlite"),
        primary_key=True,
        autoincrement=False,
    ),
    *_content(),
    Column("hash", String(64), nullable=False),
    Column("traceparent", String(55)),
    Index(None, "at", "sequence"),
    Index(None, "actor_id", "sequence"),
    Index(None, "action", "sequence"),
    Index(None, "target_id", "sequence"),
)
"""No foreign keys, because a record outlives the rows that it refers to."""

unsealed_audit_events: Final = Table(
    "unsealed_audit_events",
    metadata,
    Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    *_content(),
    Column("traceparent", String(55)),
)
"""Committed events in the order in which they were inserted, until a process appends them to the chain.
Used on PostgreSQL."""

UNCHAINED: Final = frozenset({"hash", "traceparent"})
"""The columns that the hash of a record does not cover."""
