"""Add the leases of plugins."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "plugin_leases",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("plugin", sa.String(length=64), nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("holder", sa.String(length=255), nullable=False),
        sa.Column("is_shared", sa.Boolean(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_plugin_leases"),
    )
    op.create_index("ix_plugin_leases_plugin_name", "plugin_leases", ["plugin", "name"])
    op.create_index("ix_plugin_leases_expires_at", "plugin_leases", ["expires_at"])
