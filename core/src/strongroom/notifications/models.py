"""The record of messages."""

from typing import Final

from sqlalchemy import Column, Index, String, Table

from strongroom.database.metadata import Id, Name, Timestamp, metadata

sent_messages: Final = Table(
    "sent_messages",
    metadata,
    Column("id", Id, primary_key=True),
    Column("channel", String(16), nullable=False),
    Column("recipient", Name, nullable=False),
    Column("template", String(64), nullable=False),
    Column("sender", String(64)),
    Column("reference", String(128)),
    Column("outcome", String(16), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("sent_at", Timestamp),
    Index(None, "created_at"),
)
"""The recipient, template, sender and outcome of each message; never its text."""
