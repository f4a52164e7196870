"""Create the tables of codes and consents."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "oidc_provider_codes",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("client_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("login_id", sa.String(36), nullable=False),
        sa.Column("redirect_uri", sa.String(512), nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("resource", sa.String(512), nullable=False),
        sa.Column("nonce", sa.String(512)),
        sa.Column("challenge", sa.String(128), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("used_at", sa.BigInteger),
        sa.Column("reused_at", sa.BigInteger),
        sa.Column("grant_id", sa.String(36)),
    )
    op.create_index("oidc_provider_codes_expires", "oidc_provider_codes", ["expires_at"])
    op.create_index("oidc_provider_codes_user", "oidc_provider_codes", ["user_id"])
    op.create_table(
        "oidc_provider_consents",
        sa.Column("user_id", sa.String(36), primary_key=True),
        sa.Column("client_id", sa.String(36), primary_key=True),
        sa.Column("resource", sa.String(512), primary_key=True),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("oidc_provider_consents_client", "oidc_provider_consents", ["client_id"])
