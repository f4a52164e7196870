"""Add the time zone of each user, for the times in messages and on pages."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
oldest_code = "0001"
"""Older code reads and writes the other columns."""


def upgrade() -> None:
    op.add_column("users", sa.Column("timezone", sa.String(64)))
