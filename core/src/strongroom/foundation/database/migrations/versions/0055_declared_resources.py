"""Store which resources a file has declared, so that one that leaves the file can be deleted.

Older code does not read it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
oldest_code = "0001"
"""Older code declares nothing."""


def upgrade() -> None:
    op.create_table(
        "declared_resources",
        sa.Column("set_name", sa.String(64), primary_key=True),
        sa.Column("place", sa.String(128), primary_key=True),
        sa.Column("parent_id", sa.String(64), primary_key=True),
        sa.Column("resource_id", sa.String(64), primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("declared", sa.String(64), nullable=False),
        sa.Column("current", sa.String(64), nullable=False),
    )
    op.create_index("ix_declared_resources_resource_id", "declared_resources", ["resource_id"])
    op.create_index("ix_declared_resources_parent_id", "declared_resources", ["parent_id"])
