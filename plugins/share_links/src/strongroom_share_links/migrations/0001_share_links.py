"""Create the tables of shares."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "share_links_links",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("file_id", sa.String(36), nullable=False),
        sa.Column("maker_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("secret_hash", sa.String(64), nullable=False),
        sa.Column("sealed_secret", sa.Text),
        sa.Column("label", sa.String(255), nullable=False),
        sa.Column("password_hash", sa.String(255)),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("max_downloads", sa.Integer),
        sa.Column("downloads", sa.Integer, nullable=False),
        sa.Column("audience", sa.String(16), nullable=False),
        sa.Column("notify", sa.Boolean, nullable=False),
        sa.Column("max_bytes", sa.BigInteger),
        sa.Column("max_files", sa.Integer),
        sa.Column("allowed_types", sa.JSON, nullable=False),
        sa.Column("require_name", sa.Boolean, nullable=False),
        sa.Column("layout", sa.String(16), nullable=False),
        sa.Column("dropped_files", sa.Integer, nullable=False),
        sa.Column("dropped_bytes", sa.BigInteger, nullable=False),
        sa.Column("opened_at", sa.BigInteger),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("share_links_links_secret", "share_links_links", ["secret_hash"], unique=True)
    op.create_index("share_links_links_file", "share_links_links", ["tenant_id", "file_id"])
    op.create_index("share_links_links_maker", "share_links_links", ["maker_id"])
    op.create_index("share_links_links_end", "share_links_links", ["expires_at"])
    op.create_table(
        "share_links_people",
        sa.Column("link_id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.String(36), primary_key=True),
    )
    op.create_index("share_links_people_user", "share_links_people", ["user_id"])
    op.create_table(
        "share_links_openings",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("link_id", sa.String(36), nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("what", sa.String(16), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("file_id", sa.String(36)),
        sa.Column("name", sa.String(255)),
        sa.Column("size", sa.BigInteger),
        sa.Column("uploaded_by", sa.String(100)),
    )
    op.create_index("share_links_openings_link", "share_links_openings", ["link_id", "at"])
    op.create_index("share_links_openings_age", "share_links_openings", ["at"])
    op.create_table(
        "share_links_downloads",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("link_id", sa.String(36), nullable=False),
        sa.Column("item", sa.String(36), nullable=False),
        sa.Column("tag", sa.String(128), nullable=False),
        sa.Column("remaining", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("share_links_downloads_age", "share_links_downloads", ["expires_at"])
    op.create_table(
        "share_links_uploads",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("link_id", sa.String(36), nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("uploaded_by", sa.String(100)),
        sa.Column("file_id", sa.String(36)),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_index("share_links_uploads_link", "share_links_uploads", ["link_id"])
    op.create_index("share_links_uploads_age", "share_links_uploads", ["created_at"])
    op.create_table(
        "share_links_folders",
        sa.Column("link_id", sa.String(36), primary_key=True),
        sa.Column("visitor", sa.String(100), primary_key=True),
        sa.Column("folder_id", sa.String(36), nullable=False),
    )
    op.create_table(
        "share_links_policies",
        sa.Column("tenant_id", sa.String(36), primary_key=True),
        sa.Column("enabled", sa.Boolean),
        sa.Column("kinds", sa.JSON),
        sa.Column("max_lifetime_days", sa.Integer),
        sa.Column("password", sa.String(16)),
        sa.Column("who", sa.String(16)),
    )
