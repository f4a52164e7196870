"""The tables of counters and of rate-limited events."""

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
"""Counts by subject. A subject is a purpose and a keyed hash, never a name in clear text."""

rate_events: Final = Table(
    "rate_events",
    metadata,
    Column("id", Id, primary_key=True),
    Column("subject", String(128), nullable=False),
    Column("at", Timestamp, nullable=False),
    Index(None, "subject", "at"),
    Index(None, "at"),
)
"""Each event that a rate limit allowed, until it is older than the longest window."""
