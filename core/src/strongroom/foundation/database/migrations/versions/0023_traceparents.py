"""Add the traces that events belong to."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    # NULL for all existing rows: adding the columns rewrites none.
    for table in ("audit_events", "file_events"):
        op.add_column(table, sa.Column("traceparent", sa.String(length=55), nullable=True))
