"""Create the table of pushed requests."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "oidc_provider_pushed",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("client_id", sa.String(36), nullable=False),
        sa.Column("parameters", sa.JSON, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("oidc_provider_pushed_expires", "oidc_provider_pushed", ["expires_at"])
