"""The one-time link that creates the first administrator."""

from typing import Final

from sqlalchemy import Column, Integer, String, Table

from strongroom.database.metadata import Timestamp, metadata

setup_links: Final = Table(
    "setup_links",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("hash", String(64), nullable=False),
    Column("expires_at", Timestamp, nullable=False),
)
"""At most one row, so that a new link invalidates the previous one."""
