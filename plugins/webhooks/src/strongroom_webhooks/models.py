"""The tables of endpoints and deliveries."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata: Final = MetaData()

endpoints: Final = Table(
    "webhooks_endpoints",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(36)),
    Column("owner_id", String(36), nullable=False),
    Column("url", String(2048), nullable=False),
    Column("description", String(255), nullable=False),
    Column("event_types", Text, nullable=False),
    Column("ordered", Boolean, nullable=False),
    Column("signing_keys", Text, nullable=False),
    Column("status", String(16), nullable=False),
    Column("reason", String(255)),
    Column("revision", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    # The queue. `next_at` is the time of the next attempt, null if nothing is pending. A process that
    # sends to the endpoint holds the claim until `claimed_until`; a crash frees it by time.
    Column("last_position", BigInteger, nullable=False),
    Column("next_at", BigInteger),
    Column("claimed_by", String(36)),
    Column("claimed_until", BigInteger),
    Column("failing_since", BigInteger),
    Index("webhooks_endpoints_tenant", "tenant_id"),
    Index("webhooks_endpoints_next", "status", "next_at"),
)

deliveries: Final = Table(
    "webhooks_deliveries",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("endpoint_id", String(36), nullable=False),
    Column("event_id", String(64), nullable=False),
    Column("event_type", String(64), nullable=False),
    Column("stream", String(36), nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("body", Text, nullable=False),
    # The order of an endpoint's deliveries: assigned under the lock of the endpoint's row.
    Column("position", BigInteger, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("next_at", BigInteger, nullable=False),
    Column("status", Integer),
    Column("error", String(255)),
    Column("answer", Text),
    Column("duration", Integer),
    Column("created_at", BigInteger, nullable=False),
    Column("attempted_at", BigInteger),
    Column("traceparent", String(55)),
    # An event that the sink receives twice is queued once.
    UniqueConstraint("endpoint_id", "event_id", name="webhooks_deliveries_event"),
    Index("webhooks_deliveries_queue", "endpoint_id", "outcome", "position"),
    Index("webhooks_deliveries_age", "outcome", "created_at"),
)


class Status(StrEnum):
    """Whether an endpoint receives events."""

    ENABLED = "enabled"
    DISABLED = "disabled"


class Outcome(StrEnum):
    """The state of a delivery."""

    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"  # all attempts of the schedule
    REFUSED = "refused"  # the URL leads to an address that must not be called


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A URL that receives events of some types: of one tenant, or of the server."""

    id: str
    tenant_id: str | None
    owner_id: str
    url: str
    description: str
    event_types: tuple[str, ...]
    ordered: bool
    status: str
    reason: str | None
    revision: int
    created_at: int
    updated_at: int
    failing_since: int | None

    @classmethod
    def of(cls, row: Any) -> "Endpoint":
        """Return the endpoint of a row."""
        values = {name: getattr(row, name) for name in cls.__slots__}
        return cls(**{**values, "event_types": tuple(row.event_types.split())})


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event for one endpoint, and the last attempt to deliver it."""

    id: str
    endpoint_id: str
    event_id: str
    event_type: str
    stream: str
    sequence: int
    body: str
    position: int
    outcome: str
    attempt: int
    next_at: int
    status: int | None
    error: str | None
    answer: str | None
    duration: int | None
    created_at: int
    attempted_at: int | None
    traceparent: str | None

    @property
    def shown_next_at(self) -> int | None:
        """The time of the next attempt, or ``None`` if there is none."""
        return self.next_at if self.outcome == Outcome.PENDING else None

    @classmethod
    def of(cls, row: Any) -> "Delivery":
        """Return the delivery of a row."""
        return cls(**{name: getattr(row, name) for name in cls.__slots__})
