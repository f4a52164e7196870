"""Add the table of service accounts of the server, and limit keys of tenants' accounts to their tenants.

A key of a service account without a tenant administers the server. Before, operators could create such
keys of accounts of tenants, without that right.
"""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"

_LIMIT_KEYS = """
    UPDATE access_keys SET tenant_id = (
        SELECT a.tenant_id FROM service_accounts a WHERE a.user_id = access_keys.user_id
    )
    WHERE tenant_id IS NULL AND user_id IN (SELECT user_id FROM service_accounts)
"""


def upgrade() -> None:
    op.create_table(
        "server_accounts",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("created_by", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_server_accounts_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name="pk_server_accounts"),
    )
    op.create_index(
        "ix_server_accounts_created_at_user_id", "server_accounts", ["created_at", "user_id"]
    )
    op.execute(_LIMIT_KEYS)
