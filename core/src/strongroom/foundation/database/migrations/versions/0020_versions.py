"""Add versions of files."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def upgrade() -> None:
    # NULL, "none", for all existing nodes: adding the column rewrites no row.
    op.add_column("nodes", sa.Column("versions", sa.Integer(), nullable=True))
    op.create_table(
        "node_versions",
        sa.Column("node_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("blob_key", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("content_type", sa.String(length=255), nullable=False),
        sa.Column("checksum", sa.String(length=64), nullable=False),
        sa.Column("scan", sa.String(length=16), nullable=True),
        sa.Column("modified_at", sa.BigInteger(), nullable=False),
        sa.Column("archived_at", sa.BigInteger(), nullable=False),
        sa.Column("archived_by", sa.String(length=36), nullable=False),
        sa.Column("label", _NAME, nullable=True),
        sa.Column("is_kept", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["node_id"], ["nodes.id"], name="fk_node_versions_node_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["blob_key"], ["blobs.key"], name="fk_node_versions_blob_key"),
        sa.PrimaryKeyConstraint("node_id", "number", name="pk_node_versions"),
    )
    op.create_index("ix_node_versions_blob_key", "node_versions", ["blob_key"])
    op.create_index("ix_node_versions_tenant_id_size", "node_versions", ["tenant_id", "size"])
