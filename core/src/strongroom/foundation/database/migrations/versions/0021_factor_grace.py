"""Add the beginning of the grace period of users who must have a second factor."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    op.create_table(
        "factor_grace",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("began_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_factor_grace_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name="pk_factor_grace"),
    )
