"""Add direct uploads: their reserved space, and the files created from them."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "direct_uploads",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("file_id", sa.String(length=36), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name="fk_direct_uploads_tenant_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_direct_uploads_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", name="pk_direct_uploads"),
    )
    for column in ("tenant_id", "user_id", "expires_at"):
        op.create_index(f"ix_direct_uploads_{column}", "direct_uploads", [column])
