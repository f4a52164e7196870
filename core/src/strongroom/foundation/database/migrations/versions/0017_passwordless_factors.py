"""Add handles of second factors, and challenges of users who are not known yet."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
oldest_code = "0001"
"""Older code writes no NULL, so it does not notice that the column allows it."""


def upgrade() -> None:
    op.add_column("second_factors", sa.Column("handle", sa.String(length=64), nullable=True))
    op.create_index("ix_second_factors_handle", "second_factors", ["handle"], unique=True)
    # On SQLite, the table is copied: there is no other way to change a column.
    with op.batch_alter_table("factor_challenges") as table:
        table.alter_column("user_id", existing_type=sa.String(length=36), nullable=True)
