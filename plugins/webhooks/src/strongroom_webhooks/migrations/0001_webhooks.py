"""Create the tables of endpoints and deliveries."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "webhooks_endpoints",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("tenant_id", sa.String(36)),
        sa.Column("owner_id", sa.String(36), nullable=False),
        sa.Column("url", sa.String(2048), nullable=False),
        sa.Column("description", sa.String(255), nullable=False),
        sa.Column("event_types", sa.Text, nullable=False),
        sa.Column("ordered", sa.Boolean, nullable=False),
        sa.Column("signing_keys", sa.Text, nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("reason", sa.String(255)),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("last_position", sa.BigInteger, nullable=False),
        sa.Column("next_at", sa.BigInteger),
        sa.Column("claimed_by", sa.String(36)),
        sa.Column("claimed_until", sa.BigInteger),
        sa.Column("failing_since", sa.BigInteger),
    )
    op.create_index("webhooks_endpoints_tenant", "webhooks_endpoints", ["tenant_id"])
    op.create_index("webhooks_endpoints_next", "webhooks_endpoints", ["status", "next_at"])
    op.create_table(
        "webhooks_deliveries",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("endpoint_id", sa.String(36), nullable=False),
        sa.Column("event_id", sa.String(64), nullable=False),
        sa.Column("event_type", sa.String(64), nullable=False),
        sa.Column("stream", sa.String(36), nullable=False),
        sa.Column("sequence", sa.BigInteger, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("position", sa.BigInteger, nullable=False),
        sa.Column("outcome", sa.String(16), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("next_at", sa.BigInteger, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("error", sa.String(255)),
        sa.Column("answer", sa.Text),
        sa.Column("duration", sa.Integer),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("attempted_at", sa.BigInteger),
        sa.UniqueConstraint("endpoint_id", "event_id", name="webhooks_deliveries_event"),
    )
    op.create_index(
        "webhooks_deliveries_queue", "webhooks_deliveries", ["endpoint_id", "outcome", "position"]
    )
    op.create_index("webhooks_deliveries_age", "webhooks_deliveries", ["outcome", "created_at"])
