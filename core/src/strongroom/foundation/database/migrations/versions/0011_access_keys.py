"""Add access keys, and the service accounts of tenants."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "access_keys",
        sa.Column("id", sa.String(length=8), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("previous_hash", sa.String(length=64), nullable=True),
        sa.Column("previous_until", sa.BigInteger(), nullable=True),
        sa.Column("scopes", sa.String(length=255), nullable=False),
        sa.Column("max_permission", sa.SmallInteger(), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=True),
        sa.Column("folder_id", sa.String(length=36), nullable=True),
        sa.Column("addresses", sa.JSON(), nullable=False),
        sa.Column("created_by", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("last_used_from", sa.String(length=64), nullable=True),
        sa.Column("warned_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_access_keys_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_access_keys"),
    )
    op.create_index(
        "ix_access_keys_user_id_created_at_id", "access_keys", ["user_id", "created_at", "id"]
    )
    op.create_index("ix_access_keys_expires_at", "access_keys", ["expires_at"])
    op.create_table(
        "service_accounts",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("created_by", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_service_accounts_user_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name="fk_service_accounts_tenant_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name="pk_service_accounts"),
    )
    op.create_index(
        "ix_service_accounts_tenant_id_created_at_user_id",
        "service_accounts",
        ["tenant_id", "created_at", "user_id"],
    )
