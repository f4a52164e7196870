"""Add holds and the retention of tenants."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "node_holds",
        sa.Column("node_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("reason", _NAME, nullable=False),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("placed_by", sa.String(length=36), nullable=False),
        sa.Column("placed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["node_id"], ["nodes.id"], name="fk_node_holds_node_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("node_id", name="pk_node_holds"),
    )
    op.create_index("ix_node_holds_tenant_id", "node_holds", ["tenant_id"])
    op.create_table(
        "tenant_retention",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("trash_days", sa.Integer(), nullable=True),
        sa.Column("keep_versions", sa.Integer(), nullable=True),
        sa.Column("version_days", sa.Integer(), nullable=True),
        sa.Column("minimum_days", sa.Integer(), nullable=False),
        sa.Column("mode", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name="fk_tenant_retention_tenant_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_tenant_retention"),
    )
    op.create_table(
        "retention_clock",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("now", sa.BigInteger(), nullable=False),
        sa.Column("compliance_days", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_retention_clock"),
    )
