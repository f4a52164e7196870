"""Add the access key that an import of users was begun with, so that it ends with the key."""

import sqlalchemy as sa
from alembic import op

revision = "0040"
down_revision = "0039"


def upgrade() -> None:
    # Without a default: earlier imports, and imports by servers of the previous version, name no key.
    op.add_column("user_imports", sa.Column("key_id", sa.String(length=36)))
