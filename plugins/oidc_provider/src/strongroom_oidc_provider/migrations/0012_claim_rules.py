"""Add the claims about groups and roles that clients get."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the column."""
    op.add_column("oidc_provider_clients", sa.Column("claims", sa.JSON))
