"""Add the consents of users to the terms."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.create_table(
        "consents",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("document", sa.String(length=16), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("accepted_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_consents_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "document", "version", name="pk_consents"),
    )
