"""Add which clients have registered themselves."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the column."""
    op.add_column("oidc_provider_clients", sa.Column("is_self_registered", sa.Boolean))
