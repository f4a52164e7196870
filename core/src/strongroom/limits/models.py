"""Counters, and the events that rates are counted by."""

from typing import Final

from sqlalchemy import Column, Index, Integer, String, Table

from strongroom.database.metadata import Id, Timestamp, metadata

counters: Final = Table(
    "counters",
    metadata,
    Column("subject", String(128), primary_key=True),
    Column("count", Integer, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "expires_at"),
)
"""What was counted for a subject; the subject is a purpose and a keyed hash, never a name itself."""

rate_events: Final = Table(
    "rate_events",
    metadata,
    Column("id", Id, primary_key=True),
    Column("subject", String(128), nullable=False),
    Column("at", Timestamp, nullable=False),
    Index(None, "subject", "at"),
    Index(None, "at"),
)
"""Each event that a rate allowed, for as long as the rate looks back."""
