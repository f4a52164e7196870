"""Create the table of clients."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "oidc_provider_clients",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("is_public", sa.Boolean, nullable=False),
        sa.Column("is_trusted", sa.Boolean, nullable=False),
        sa.Column("redirect_uris", sa.JSON, nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("resources", sa.JSON, nullable=False),
        sa.Column("secrets", sa.JSON, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("oidc_provider_clients_created", "oidc_provider_clients", ["created_at", "id"])
