"""Add whether the account of a user came with a credential of a platform.

Until now, a credential that was bound within a second of the creation of the user counted as its origin.
What code of the version before binds while it runs alongside is no origin: when such a person leaves the
platform, the logins by it end, and the user is not suspended.
"""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"

_ORIGINS = """
UPDATE credentials SET is_origin = true
WHERE kind NOT IN ('email', 'mobile', 'username') AND EXISTS (
    SELECT 1 FROM users u
    WHERE u.id = credentials.user_id
        AND credentials.created_at BETWEEN u.created_at AND u.created_at + 1000
)
"""


def upgrade() -> None:
    op.add_column(
        "credentials", sa.Column("is_origin", sa.Boolean(), nullable=False, server_default=sa.false())
    )
    op.execute(_ORIGINS)
