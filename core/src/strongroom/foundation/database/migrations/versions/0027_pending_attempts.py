"""Add the attempts to log in whose outcome is not known yet."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    # Constant defaults: no row is rewritten, and servers of the version before insert rows as they did.
    op.add_column("counters", sa.Column("pending", sa.Integer(), nullable=False, server_default="0"))
    op.add_column(
        "counters", sa.Column("pending_until", sa.BigInteger(), nullable=False, server_default="0")
    )
