"""Let shares end with the grant of the client that has made them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
oldest_code = "0001"
"""Older code reads longer ids of keys, too."""


def upgrade() -> None:
    """Widen the id of the access key, which may be one of a grant now."""
    with op.batch_alter_table("share_links_links") as table:
        table.alter_column("key_id", existing_type=sa.String(8), type_=sa.String(36))
