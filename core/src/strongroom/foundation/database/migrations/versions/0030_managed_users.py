"""Add the columns and tables of users that administrators manage, and of impersonated logins."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def _create_partial_index(table: str, column: str) -> None:
    condition = sa.text(f"{column} IS NOT NULL")
    op.create_index(
        f"ix_{table}_{column}",
        table,
        [column],
        sqlite_where=condition,
        postgresql_where=condition,
    )


def upgrade() -> None:
    _add_columns()
    op.create_index("ix_users_external_id", "users", ["external_id"], unique=True)
    _create_partial_index("users", "suspended_until")
    op.create_index("ix_users_last_login_at_id", "users", ["last_login_at", "id"])
    _create_partial_index("authorizations", "actor_id")
    op.create_table(
        "user_metadata",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("server_metadata", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name="pk_user_metadata"),
    )
    _create_links()


def _add_columns() -> None:
    # Constant defaults: servers of the version before insert rows without these columns.
    yes, no = sa.true(), sa.false()
    op.add_column("users", sa.Column("external_id", sa.String(length=255)))
    op.add_column("users", sa.Column("suspended_until", sa.BigInteger()))
    op.add_column("users", sa.Column("suspension_reason", sa.String(length=255)))
    op.add_column("users", sa.Column("last_login_at", sa.BigInteger()))
    op.add_column(
        "credentials", sa.Column("is_verified", sa.Boolean(), nullable=False, server_default=yes)
    )
    op.add_column(
        "passwords", sa.Column("change_required", sa.Boolean(), nullable=False, server_default=no)
    )
    op.add_column("passwords", sa.Column("expires_at", sa.BigInteger()))
    op.add_column("authorizations", sa.Column("actor_id", sa.String(length=36)))


def _create_links() -> None:
    op.create_table(
        "account_links",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("contact_kind", sa.String(length=32)),
        sa.Column("contact_value", _NAME),
        sa.Column("created_by", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash", name="pk_account_links"),
    )
    op.create_index("ix_account_links_user_id", "account_links", ["user_id"])
    op.create_index("ix_account_links_expires_at", "account_links", ["expires_at"])
