"""Add the values that top-level lists are sorted by to the grants, and an index for each order."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

_IS_LISTED = sa.text("parent_visible_until IS NOT NULL")
# Only the grants of top-level nodes: all others get the values when their nodes become top-level.
_COPY = """
UPDATE grants SET node_type = nodes.type, node_size = nodes.size, node_updated_at = nodes.updated_at
FROM nodes WHERE nodes.id = grants.node_id AND grants.parent_visible_until IS NOT NULL
"""


def upgrade() -> None:
    for column in (
        sa.Column("node_type", sa.String(length=8), nullable=False, server_default="file"),
        sa.Column("node_size", sa.BigInteger(), nullable=False, server_default="0"),
        sa.Column("node_updated_at", sa.BigInteger(), nullable=False, server_default="0"),
    ):
        op.add_column("grants", column)
    op.execute(sa.text(_COPY))
    for value in ("type", "size", "updated_at"):
        columns = ["user_id", "tenant_id", f"node_{value}", "node_name", "node_id"]
        op.create_index(
            f"ix_grants_top_level_{value}",
            "grants",
            [*columns, "parent_visible_until", "expires_at"],
            sqlite_where=_IS_LISTED,
            postgresql_where=_IS_LISTED,
        )
