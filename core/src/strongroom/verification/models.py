"""Captchas and verification codes."""

from typing import Final

from sqlalchemy import Column, Index, String, Table, Text

from strongroom.database.metadata import Id, Name, Timestamp, metadata

captchas: Final = Table(
    "captchas",
    metadata,
    Column("id", Id, primary_key=True),
    Column("provider", String(32), nullable=False),
    Column("sealed_state", Text, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "expires_at"),
)
"""Open challenges. The first attempt deletes the row, whether the solution is right or wrong."""

verification_codes: Final = Table(
    "verification_codes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("recipient_kind", String(32), nullable=False),
    Column("recipient", Name, nullable=False),
    Column("purpose", String(32), nullable=False),
    Column("code_hash", String(64), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("consumed_at", Timestamp),
    Column("device_hash", String(64)),
    Index("ix_verification_codes_recipient", "recipient_kind", "recipient", "purpose", "created_at"),
    Index(None, "expires_at"),
)
