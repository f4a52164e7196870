"""Add the trash."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    # NULL, "live", for all existing nodes: adding the column rewrites no row.
    op.add_column("nodes", sa.Column("trash_id", sa.String(length=36), nullable=True))
    op.create_index(
        "ix_nodes_trash_id",
        "nodes",
        ["trash_id"],
        sqlite_where=sa.text("trash_id IS NOT NULL"),
        postgresql_where=sa.text("trash_id IS NOT NULL"),
    )
    op.create_table(
        "trash",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("node_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("parent_id", sa.String(length=36), nullable=False),
        sa.Column("trashed_by", sa.String(length=36), nullable=False),
        sa.Column("trashed_at", sa.BigInteger(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("purging_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"], name="fk_trash_node_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_trash"),
        sa.UniqueConstraint("node_id", name="uq_trash_node_id"),
    )
    op.create_index("ix_trash_tenant_id_trashed_at_id", "trash", ["tenant_id", "trashed_at", "id"])
    op.create_index("ix_trash_trashed_at", "trash", ["trashed_at"])
    op.create_index("ix_trash_purging_at", "trash", ["purging_at"])
