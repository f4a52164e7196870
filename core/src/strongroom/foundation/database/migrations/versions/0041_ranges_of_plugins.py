"""Let the database record which code of each plugin can use the plugin's tables."""

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0040"
oldest_code = "0001"
"""Older code writes names of at most 32 characters, which the column still has room for."""


def upgrade() -> None:
    with op.batch_alter_table("installation") as table:
        table.alter_column(
            "name",
            existing_type=sa.String(length=32),
            type_=sa.String(length=80),
            existing_nullable=False,
        )
