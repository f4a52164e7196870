"""Create the table of login codes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "login_pages_codes",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("code_challenge", sa.String(43), nullable=False),
        sa.Column("sealed_tokens", sa.Text, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
    )
    op.create_index("login_pages_codes_expiry", "login_pages_codes", ["expires_at"])
