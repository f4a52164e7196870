"""Store the locks of files and folders.

Older code changes what is locked; it does not read the table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"
oldest_code = "0001"
"""Older code takes no locks and heeds none."""


def upgrade() -> None:
    op.create_table(
        "node_locks",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column(
            "node_id", sa.String(36), sa.ForeignKey("nodes.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column(
            "user_id", sa.String(36), sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("is_shared", sa.Boolean, nullable=False),
        sa.Column("is_deep", sa.Boolean, nullable=False),
        sa.Column("note", sa.String(1024), nullable=False),
        sa.Column("locked_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("ix_node_locks_node_id", "node_locks", ["node_id"])
    op.create_index("ix_node_locks_tenant_id_expires_at", "node_locks", ["tenant_id", "expires_at"])
    op.create_index("ix_node_locks_user_id", "node_locks", ["user_id"])
    op.create_index("ix_node_locks_expires_at", "node_locks", ["expires_at"])
