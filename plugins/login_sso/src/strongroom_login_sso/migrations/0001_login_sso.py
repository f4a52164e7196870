"""Create the tables of domains and identity providers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "login_sso_domains",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("domain", sa.String(253), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("creator_id", sa.String(36), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("verified_at", sa.BigInteger),
        sa.Column("checked_at", sa.BigInteger),
        sa.Column("proven_at", sa.BigInteger),
        sa.Column("lost_since", sa.BigInteger),
        sa.Column("next_check_at", sa.BigInteger),
        sa.UniqueConstraint("tenant_id", "domain", name="login_sso_domains_name"),
    )
    op.create_index("login_sso_domains_domain", "login_sso_domains", ["domain"])
    op.create_index("login_sso_domains_next", "login_sso_domains", ["next_check_at"])
    op.create_table(
        "login_sso_providers",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("owner_id", sa.String(36), nullable=False),
        sa.Column("label", sa.String(64), nullable=False),
        sa.Column("issuer", sa.String(512), nullable=False),
        sa.Column("client_id", sa.String(255), nullable=False),
        sa.Column("sealed_secret", sa.Text, nullable=False),
        sa.Column("scopes", sa.JSON, nullable=False),
        sa.Column("claims", sa.JSON, nullable=False),
        sa.Column("rules", sa.JSON, nullable=False),
        sa.Column("default_role", sa.String(16), nullable=False),
        sa.Column("joins", sa.Boolean, nullable=False),
        sa.Column("addresses_verified", sa.Boolean, nullable=False),
        sa.Column("enforced", sa.Boolean, nullable=False),
        sa.Column("tried_at", sa.BigInteger),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("login_sso_providers_tenant", "login_sso_providers", ["tenant_id"])
    op.create_table(
        "login_sso_break_glass",
        sa.Column("provider_id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.String(36), primary_key=True),
    )
    op.create_index("login_sso_break_glass_user", "login_sso_break_glass", ["user_id"])
    op.create_table(
        "login_sso_leavers",
        sa.Column("tenant_id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.String(36), primary_key=True),
        sa.Column("ended_at", sa.BigInteger, nullable=False),
    )
    op.create_index("login_sso_leavers_user", "login_sso_leavers", ["user_id"])
