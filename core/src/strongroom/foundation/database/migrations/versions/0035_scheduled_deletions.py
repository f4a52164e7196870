"""Add the time at which a user who has asked for it is deleted."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    # Servers of the version before never set it, and leave it as it is.
    op.add_column("users", sa.Column("deletion_due_at", sa.BigInteger()))
    due = sa.text("deletion_due_at IS NOT NULL")
    op.create_index(
        "ix_users_deletion_due_at",
        "users",
        ["deletion_due_at"],
        sqlite_where=due,
        postgresql_where=due,
    )
