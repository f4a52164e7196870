"""The metadata and column types that the tables of all features share."""

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
"""The tables of all features; each feature's ``models`` module adds its own."""

Id: Final = String(36)
"""A UUID in its canonical form."""

Timestamp: Final = BigInteger
"""Milliseconds since the Unix epoch: exact, and identical on every database."""

WHERE: Final = "where"
"""The key of ``Index.info`` for the condition of a partial index.

The migrations create the index. SQLAlchemy's own ``postgresql_where`` would import the dialect, and so
delay each start.
"""

Name: Final = String(255).with_variant(String(255, collation="C"), "postgresql")
"""Text that every database compares and sorts by code point."""

SortKeyText: Final = String(511).with_variant(String(511, collation="C"), "postgresql")
"""A key of :func:`strongroom.foundation.collation.sort_key`."""


def is_derived(name: str) -> bool:
    """Return whether a table is derived from others; see ``foundation/database/text_index.py``.

    Such tables differ between the databases, so they are no part of :data:`metadata`, and backups leave
    them out.
    """
    # SQLite has several tables for one index.
    return name.startswith(("search_names", "name_index", "user_search"))
