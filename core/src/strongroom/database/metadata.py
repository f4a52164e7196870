"""What the tables of all features share."""

from typing import Final

from sqlalchemy import BigInteger, MetaData, String

metadata: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
"""Every feature's ``models`` adds its tables here."""

Id: Final = String(36)
"""A UUID in its canonical form."""

Timestamp: Final = BigInteger
"""Milliseconds since the Unix epoch: exact, and the same on every database."""

Name: Final = String(255).with_variant(String(255, collation="C"), "postgresql")
"""Text that is compared and sorted by code point, on every database."""
