"""Store what directories have provisioned: users and groups.

Older code does not read the tables. A user or a group that it deletes leaves no row behind but the one
of the user, which is marked as deleted.
"""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0060"
oldest_code = "0001"
"""Older code has no directories."""

_ID = sa.String(36)
_NAME = sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")


def _directory_id() -> sa.Column[str]:
    of_directory = sa.ForeignKey("directories.id", ondelete="CASCADE")
    return sa.Column("directory_id", _ID, of_directory, nullable=False)


def upgrade() -> None:
    op.create_table(
        "directories",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("realm", _ID, nullable=False),
        sa.Column("tenant_id", _ID, sa.ForeignKey("tenants.id", ondelete="CASCADE")),
        sa.Column("account_id", _ID),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("may_write", sa.Boolean, nullable=False),
        sa.Column("successor_id", _ID),
        sa.Column("registered_by", _ID, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("last_used_at", sa.BigInteger),
        sa.UniqueConstraint("realm", "account_id"),
    )
    op.create_index("ix_directories_tenant_id", "directories", ["tenant_id"])
    op.create_index("ix_directories_account_id", "directories", ["account_id"])
    op.create_table(
        "provisioned_users",
        sa.Column("user_id", _ID, sa.ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
        _directory_id(),
        sa.Column("realm", _ID, nullable=False),
        sa.Column("external_id", _NAME),
        sa.Column("login_name", _NAME, nullable=False),
        sa.Column("login_key", _NAME, nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("email_key", _NAME),
        sa.Column("profile", sa.JSON, nullable=False),
        sa.Column("is_suspended", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("realm", "external_id"),
        sa.UniqueConstraint("realm", "login_key"),
    )
    oldest_first = ["directory_id", "created_at", "user_id"]
    op.create_index(f"ix_provisioned_users_{'_'.join(oldest_first)}", "provisioned_users", oldest_first)
    op.create_index(
        "ix_provisioned_users_directory_id_email_key", "provisioned_users", ["directory_id", "email_key"]
    )
    op.create_table(
        "provisioned_groups",
        sa.Column("group_id", _ID, sa.ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True),
        _directory_id(),
        sa.Column("realm", _ID, nullable=False),
        sa.Column("external_id", _NAME),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("realm", "external_id"),
    )
    oldest_first[-1] = "group_id"
    op.create_index(
        f"ix_provisioned_groups_{'_'.join(oldest_first)}", "provisioned_groups", oldest_first
    )
    op.create_table(
        "due_handovers",
        sa.Column("tenant_id", _ID, sa.ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("user_id", _ID, primary_key=True),
        sa.Column("to_user_id", _ID, nullable=False),
        sa.Column("requested_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_due_handovers_requested_at", "due_handovers", ["requested_at"])
