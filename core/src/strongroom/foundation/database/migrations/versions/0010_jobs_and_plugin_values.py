"""Add the recurring jobs, and the values that plugins store for users."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "jobs",
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("holder", sa.String(length=255), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("succeeded_at", sa.BigInteger(), nullable=True),
        sa.Column("failed_at", sa.BigInteger(), nullable=True),
        sa.Column("failure", sa.String(length=255), nullable=True),
        sa.PrimaryKeyConstraint("name", name="pk_jobs"),
    )
    op.create_table(
        "plugin_values",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("plugin", sa.String(length=64), nullable=False),
        sa.Column("key", _NAME, nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_plugin_values_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "plugin", "key", name="pk_plugin_values"),
    )
