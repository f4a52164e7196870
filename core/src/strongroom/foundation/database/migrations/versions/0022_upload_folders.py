"""Add the folders that a resumable upload creates together with its file."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.add_column("uploads", sa.Column("folders", sa.Text(), nullable=True))
