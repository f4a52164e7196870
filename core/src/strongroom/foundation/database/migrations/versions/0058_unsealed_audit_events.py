"""Store audit events whose transactions do not wait for the chain.

Older code appends to the chain itself, under the same lock, and does not read this table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"
oldest_code = "0001"
"""Older code does not list events that newer code has not sealed yet."""


def upgrade() -> None:
    name = sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")
    op.create_table(
        "unsealed_audit_events",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer, "sqlite"), primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("action", sa.String(64), nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("actor_id", sa.String(36)),
        sa.Column("target_type", sa.String(32)),
        sa.Column("target_id", name),
        sa.Column("address", sa.String(64)),
        sa.Column("user_agent", sa.String(512)),
        sa.Column("request_id", sa.String(64)),
        sa.Column("details", sa.JSON, nullable=False),
        sa.Column("traceparent", sa.String(55)),
    )
