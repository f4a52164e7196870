"""Add second factors and their challenges."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "second_factors",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("factor", sa.String(length=32), nullable=False),
        sa.Column("is_backup", sa.Boolean(), nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("sealed_data", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name="fk_second_factors_user_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_second_factors"),
    )
    op.create_index("ix_second_factors_user_id", "second_factors", ["user_id"])
    op.create_table(
        "factor_challenges",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("purpose", sa.String(length=16), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("sealed_state", sa.Text(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name="fk_factor_challenges_user_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("hash", name="pk_factor_challenges"),
    )
    op.create_index("ix_factor_challenges_user_id", "factor_challenges", ["user_id"])
    op.create_index("ix_factor_challenges_expires_at", "factor_challenges", ["expires_at"])
