"""Add what tenants demand of logins."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("tenants", sa.Column("required_acr", sa.String(length=64), nullable=True))
    op.add_column("tenants", sa.Column("max_proof_age", sa.Integer(), nullable=True))
