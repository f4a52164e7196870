"""Add the links by which users take back a former contact."""

import sqlalchemy as sa
from alembic import op

revision = "0044"
down_revision = "0043"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "contact_links",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("former", _NAME, nullable=False),
        sa.Column("current", _NAME),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash", name="pk_contact_links"),
    )
    op.create_index("ix_contact_links_user_id", "contact_links", ["user_id"])
    op.create_index("ix_contact_links_expires_at", "contact_links", ["expires_at"])
