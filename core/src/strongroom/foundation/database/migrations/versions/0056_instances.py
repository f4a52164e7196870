"""Store which instances serve, with the digests of their configurations.

Older code does not read it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
oldest_code = "0001"
"""Older code records no instance."""


def upgrade() -> None:
    op.create_table(
        "instances",
        sa.Column("name", sa.String(255), primary_key=True),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("seen_at", sa.BigInteger, nullable=False),
        sa.Column("skew", sa.BigInteger, nullable=False),
        sa.Column("sections", sa.Text, nullable=False),
    )
