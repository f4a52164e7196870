"""Store the progress of tasks on all rows of large tables.

Older code does not read it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0057"
down_revision = "0056"
oldest_code = "0001"
"""Older code begins such tasks from the first row."""

_KEY = sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "key_ranges",
        sa.Column("task", sa.String(64), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("run", sa.String(36), nullable=False),
        sa.Column("begun_at", sa.BigInteger, nullable=False),
        sa.Column("first", _KEY),
        sa.Column("last", _KEY),
        sa.Column("reached", _KEY),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("hits", sa.BigInteger, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("is_done", sa.Boolean, nullable=False),
        sa.Column("holder", sa.String(255)),
        sa.Column("lease_until", sa.BigInteger),
    )
