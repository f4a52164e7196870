"""Add the plugin that used the rights of the actor of a file event for another person."""

import sqlalchemy as sa
from alembic import op

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    # NULL for all existing rows: adding the column rewrites none.
    op.add_column("file_events", sa.Column("plugin", sa.String(length=64), nullable=True))
