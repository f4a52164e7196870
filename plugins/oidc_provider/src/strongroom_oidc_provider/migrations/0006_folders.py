"""Add the folder that a user has chosen to codes and consents."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns."""
    for table in ("oidc_provider_codes", "oidc_provider_consents"):
        op.add_column(table, sa.Column("tenant_id", sa.String(36)))
        op.add_column(table, sa.Column("file_id", sa.String(36)))
