"""Add the event log of tenants' files."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")
_INDEXES = (
    ["tenant_id", "at", "id"],
    ["tenant_id", "node_id", "at", "id"],
    ["tenant_id", "actor_id", "at", "id"],
    ["at"],
)


def upgrade() -> None:
    op.create_table(
        "file_events",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("node_id", sa.String(length=36), nullable=False),
        sa.Column("action", sa.String(length=32), nullable=False),
        sa.Column("actor_id", sa.String(length=36), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=True),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("parent_id", sa.String(length=36), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_file_events"),
    )
    for columns in _INDEXES:
        op.create_index(f"ix_file_events_{'_'.join(columns)}", "file_events", columns)
