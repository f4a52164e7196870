"""Counters."""

from typing import Final

from sqlalchemy import Column, Index, Integer, String, Table

from strongroom.database.metadata import Timestamp, metadata

counters: Final = Table(
    "counters",
    metadata,
    Column("subject", String(128), primary_key=True),
    Column("count", Integer, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "expires_at"),
)
"""What was counted for a subject; the subject is a purpose and a keyed hash, never a name itself."""
