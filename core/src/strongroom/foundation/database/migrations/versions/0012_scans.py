"""Add the scan states of files, and the table of scans."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    # NULL, "not scanned", for all existing files: adding the columns rewrites no row.
    op.add_column("nodes", sa.Column("scan", sa.String(length=16), nullable=True))
    op.add_column("business_files", sa.Column("scan", sa.String(length=16), nullable=True))
    op.create_table(
        "scans",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("blob_key", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("scanner", sa.String(length=64), nullable=False),
        sa.Column("engine", sa.String(length=64), nullable=False),
        sa.Column("database_version", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("scanned_at", sa.BigInteger(), nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease", sa.String(length=36), nullable=True),
        sa.Column("released_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["blob_key"], ["blobs.key"], name="fk_scans_blob_key", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_scans"),
    )
    op.create_index("ix_scans_blob_key", "scans", ["blob_key"], unique=True)
    op.create_index("ix_scans_due_at", "scans", ["due_at"])
    op.create_index("ix_scans_state_scanned_at", "scans", ["state", "scanned_at"])
    op.create_index("ix_scans_database_version", "scans", ["database_version"])
