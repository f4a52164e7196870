"""Store the refused requests of directories, and when a directory last changed anything.

Older code stores neither. An error that it has left goes after 30 days.
"""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0061"
oldest_code = "0001"
"""Older code neither reads nor writes the column and the table."""

_ID = sa.String(36)
_NAME = sa.String(255).with_variant(sa.String(255, collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("directories", sa.Column("last_changed_at", sa.BigInteger))
    of_directory = sa.ForeignKey("directories.id", ondelete="CASCADE")
    op.create_table(
        "directory_errors",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("directory_id", _ID, of_directory, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", _NAME, nullable=False),
        sa.Column("name_key", _NAME, nullable=False),
        sa.Column("resource_id", _ID),
        sa.Column("status", sa.Integer, nullable=False),
        sa.Column("code", sa.String(64)),
        sa.Column("message", sa.String(500), nullable=False),
        sa.Column("count", sa.Integer, nullable=False),
        sa.Column("first_at", sa.BigInteger, nullable=False),
        sa.Column("last_at", sa.BigInteger, nullable=False),
        sa.UniqueConstraint("directory_id", "kind", "name_key"),
    )
    newest = ["directory_id", "last_at", "id"]
    op.create_index(f"ix_directory_errors_{'_'.join(newest)}", "directory_errors", newest)
    op.create_index("ix_directory_errors_last_at", "directory_errors", ["last_at"])
