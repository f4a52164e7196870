"""The values that plugins store for users."""

from typing import Final

from sqlalchemy import Column, ForeignKey, String, Table, Text

from strongroom.foundation.database.metadata import Id, Name, metadata

plugin_values: Final = Table(
    "plugin_values",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("plugin", String(64), primary_key=True),
    Column("key", Name, primary_key=True),
    Column("sealed", Text, nullable=False),
)
"""Encrypted JSON by user, plugin and key."""
