"""Add the brands of clients, and clients that are disabled."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns and the table."""
    for column in (
        sa.Column("disabled_at", sa.BigInteger),
        sa.Column("accent", sa.String(7)),
        sa.Column("terms_url", sa.String(512)),
        sa.Column("privacy_url", sa.String(512)),
        sa.Column("logo", sa.String(128)),
    ):
        op.add_column("oidc_provider_clients", column)
    op.create_table(
        "oidc_provider_logos",
        sa.Column("client_id", sa.String(36), primary_key=True),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
    )
