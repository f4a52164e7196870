"""Keep the ids of removed files whose rows a plugin failed to remove, so that it is called again."""

import sqlalchemy as sa
from alembic import op

revision = "0053"
down_revision = "0052"
oldest_code = "0001"
"""Older code calls no erasers of plugins."""


def upgrade() -> None:
    op.create_table(
        "failed_erasures",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("plugin", sa.String(64), nullable=False),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("node_ids", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_failed_erasures_plugin_id", "failed_erasures", ["plugin", "id"])
