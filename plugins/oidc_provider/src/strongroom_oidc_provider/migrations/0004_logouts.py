"""Create the tables of logouts that clients learn of."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables."""
    op.add_column("oidc_provider_clients", sa.Column("backchannel_logout_uri", sa.String(512)))
    op.create_table(
        "oidc_provider_logins",
        sa.Column("login_id", sa.String(36), primary_key=True),
        sa.Column("client_id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
    op.create_index("oidc_provider_logins_client", "oidc_provider_logins", ["client_id"])
    op.create_index("oidc_provider_logins_created", "oidc_provider_logins", ["created_at"])
    op.create_index("oidc_provider_logins_user", "oidc_provider_logins", ["user_id"])
    op.create_table(
        "oidc_provider_logouts",
        sa.Column("login_id", sa.String(36), primary_key=True),
        sa.Column("client_id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("failures", sa.Integer, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
    )
    op.create_index("oidc_provider_logouts_client", "oidc_provider_logouts", ["client_id"])
    op.create_index("oidc_provider_logouts_due", "oidc_provider_logouts", ["due_at"])
