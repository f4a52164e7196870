"""Add the locale and deletion time of users, and indexes for user search."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.add_column("users", sa.Column("locale", sa.String(length=35), nullable=True))
    op.add_column("users", sa.Column("deleted_at", sa.BigInteger(), nullable=True))
    op.add_column("users", sa.Column("erased_at", sa.BigInteger(), nullable=True))
    op.create_index("ix_users_status_created_at_id", "users", ["status", "created_at", "id"])
    op.create_index("ix_users_type_created_at_id", "users", ["type", "created_at", "id"])
    op.create_index("ix_users_deleted_at", "users", ["deleted_at"])
