"""A table of the core for tests of the database."""

from typing import Final

from sqlalchemy import BigInteger, Column, Integer, MetaData, String, Table

counters: Final = Table(
    "counters",
    MetaData(),
    Column("subject", String, primary_key=True),
    Column("count", Integer),
    Column("expires_at", BigInteger),
)
"""The columns of the table that have no defaults, so further ones do not concern the tests."""
