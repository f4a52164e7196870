"""Tables of the positions of event sinks, and of the events that a sink cannot accept."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, Index, Integer, String, Table

from strongroom.foundation.database.metadata import WHERE, Id, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper


@dataclass(frozen=True, slots=True)
class Position:
    """How far a sink has received a stream.

    Args:
        position: the sequence of the last event that the sink has accepted.
        failures: failed attempts to deliver the next event.
    """

    sink: str
    stream: str
    position: int
    failures: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """An event that a sink has not accepted; ``error`` is the type of the exception."""

    sink: str
    stream: str
    sequence: int
    type: str
    error: str
    failed_at: int


event_positions: Final = Table(
    "event_positions",
    metadata,
    Column("sink", String(64), primary_key=True),
    Column("stream", Id, primary_key=True),
    Column("position", BigInteger, nullable=False),
    Column("claim", Id),
    Column("claimed_until", Timestamp, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("retry_at", Timestamp, nullable=False),
    Index("ix_event_positions_failing", "sink", "retry_at", info={WHERE: "failures > 0"}),
)
"""The position of each sink in each stream. ``claim`` is the process that delivers the stream, until
``claimed_until``. A stream without a row has the position 0; the row of the stream ``""`` records that
the positions of a sink were initialized."""

event_dead_letters: Final = Table(
    "event_dead_letters",
    metadata,
    Column("sink", String(64), primary_key=True),
    Column("stream", Id, primary_key=True),
    Column("sequence", BigInteger, primary_key=True),
    Column("type", String(64), nullable=False),
    Column("error", String(255), nullable=False),
    Column("failed_at", Timestamp, nullable=False),
    Index(None, "failed_at"),
)

DEAD_LETTER: Final = RowMapper(DeadLetter, event_dead_letters)
