"""Add an index of the folders in each folder, without the files."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.create_index(
        "ix_nodes_folders",
        "nodes",
        ["parent_id", "id"],
        sqlite_where=sa.text("type = 'folder'"),
        postgresql_where=sa.text("type = 'folder'"),
    )
