"""The table of properties of the database itself."""

from typing import Final

from sqlalchemy import Column, String, Table

from strongroom.database.metadata import metadata

installation: Final = Table(
    "installation",
    metadata,
    Column("name", String(32), primary_key=True),
    Column("value", String(255), nullable=False),
)
"""Properties of the database by name; see :mod:`strongroom.database.installation`."""
