"""Recognize the visitors of counted downloads without a cookie."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column. Downloads of before are continued by their cookie only, for an hour."""
    op.add_column("share_links_downloads", sa.Column("visitor_hash", sa.String(64)))
    op.create_index("share_links_downloads_link", "share_links_downloads", ["link_id"])
