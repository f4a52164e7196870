"""Add the values that plugins share among all workers and nodes."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    op.create_table(
        "plugin_shared_values",
        sa.Column("name", sa.String(length=320), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_plugin_shared_values"),
    )
    op.create_index("ix_plugin_shared_values_expires_at", "plugin_shared_values", ["expires_at"])
