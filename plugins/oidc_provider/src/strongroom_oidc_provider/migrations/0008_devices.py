"""Create the table of devices that wait for their users."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Create the table."""
    op.add_column("oidc_provider_clients", sa.Column("has_device_login", sa.Boolean))
    op.create_table(
        "oidc_provider_devices",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("user_code", sa.String(128), nullable=False),
        sa.Column("client_id", sa.String(36), nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("resource", sa.String(512), nullable=False),
        sa.Column("address", sa.String(64), nullable=False),
        sa.Column("user_agent", sa.String(255), nullable=False),
        sa.Column("status", sa.String(8), nullable=False),
        sa.Column("user_id", sa.String(36)),
        sa.Column("login_id", sa.String(36)),
        sa.Column("pause", sa.Integer, nullable=False),
        sa.Column("polled_at", sa.BigInteger),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("oidc_provider_devices_client", "oidc_provider_devices", ["client_id"])
    op.create_index("oidc_provider_devices_code", "oidc_provider_devices", ["user_code"], unique=True)
    op.create_index("oidc_provider_devices_expires", "oidc_provider_devices", ["expires_at"])
    op.create_index("oidc_provider_devices_user", "oidc_provider_devices", ["user_id"])
