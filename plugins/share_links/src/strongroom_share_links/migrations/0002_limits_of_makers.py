"""Let shares end with the access key of their maker, and stay closed after a restore."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the columns. Shares of before have no key; their restores count from the next pruning on."""
    op.add_column("share_links_links", sa.Column("key_id", sa.String(8)))
    op.add_column("share_links_links", sa.Column("closed_at", sa.BigInteger))
    op.add_column("share_links_links", sa.Column("checked_sequence", sa.BigInteger))
