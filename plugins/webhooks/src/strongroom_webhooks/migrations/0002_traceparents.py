"""Add the traces that deliveries belong to."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column."""
    op.add_column("webhooks_deliveries", sa.Column("traceparent", sa.String(55)))
