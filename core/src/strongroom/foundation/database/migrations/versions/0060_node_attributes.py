"""Store what plugins know about files and folders.

Older code copies files without their attributes; it does not read the table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0059"
oldest_code = "0001"
"""Copies that older code makes have no attributes."""


def upgrade() -> None:
    name = sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")
    node = sa.ForeignKey("nodes.id", ondelete="CASCADE")
    op.create_table(
        "node_attributes",
        sa.Column("node_id", sa.String(36), node, primary_key=True),
        sa.Column("plugin", sa.String(64), primary_key=True),
        sa.Column("name", name, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
