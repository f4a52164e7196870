"""Add the deletion time of tenants, for deletion with a grace period."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.add_column("tenants", sa.Column("deleted_at", sa.BigInteger(), nullable=True))
    op.create_index("ix_tenants_deleted_at", "tenants", ["deleted_at"])
