"""Widen the ids of clients, which may be URLs."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
oldest_code = "0001"
"""Older code reads longer ids, too."""


def upgrade() -> None:
    """Widen the columns, and add the name of a client without a row."""
    for name in ("codes", "consents", "pushed"):
        with op.batch_alter_table(f"oidc_provider_{name}") as table:
            table.alter_column("client_id", existing_type=sa.String(36), type_=sa.String(255))
    op.add_column("oidc_provider_consents", sa.Column("client_name", sa.String(255)))
