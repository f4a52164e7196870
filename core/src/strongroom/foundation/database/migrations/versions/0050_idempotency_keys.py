"""Add the keys of requests that create something, with the sealed first answers."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def upgrade() -> None:
    op.create_table(
        "idempotency_keys",
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("attempt", sa.String(36), nullable=False),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("has_effect", sa.Boolean(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_idempotency_keys"),
    )
    op.create_index("ix_idempotency_keys_user_id", "idempotency_keys", ["user_id"])
    op.create_index("ix_idempotency_keys_expires_at", "idempotency_keys", ["expires_at"])
