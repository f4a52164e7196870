"""Add the service accounts of clients."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("oidc_provider_clients", sa.Column("service_account_id", sa.String(36)))
    op.add_column("oidc_provider_clients", sa.Column("service_tenant_id", sa.String(36)))
