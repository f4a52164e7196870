"""Record the device that requested a verification code."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("verification_codes", sa.Column("device_hash", sa.String(length=64), nullable=True))
