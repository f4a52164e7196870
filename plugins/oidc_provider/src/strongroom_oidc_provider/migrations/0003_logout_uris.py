"""Add where browsers go on to after a logout."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Add the column."""
    op.add_column("oidc_provider_clients", sa.Column("post_logout_redirect_uris", sa.JSON))
