"""Add the user that the actor of a file event impersonated."""

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"


def upgrade() -> None:
    # NULL for all existing rows: adding the column rewrites none.
    op.add_column("file_events", sa.Column("on_behalf_of", sa.String(length=36), nullable=True))
