"""The link that makes the first administrator."""

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
"""One row at most, so that a new link voids the one before, and only one can ever be redeemed."""
