"""Name the user of a login code, which ends with what the user can do."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column, which servers of the version before leave empty."""
    op.add_column("login_pages_codes", sa.Column("user_id", sa.String(36)))
    op.create_index("login_pages_codes_user", "login_pages_codes", ["user_id"])
