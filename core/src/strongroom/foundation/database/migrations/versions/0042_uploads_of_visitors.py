"""Add what a visitor's resumable upload reserves, and its announcer.

Rows of users have NULL there, and reserve their whole size. While the version before runs alongside, it
releases the whole size of a visitor's upload that it completes or deletes, so that the tenant's reserved
bytes may be too low until then.
"""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    op.add_column("uploads", sa.Column("reserved_bytes", sa.BigInteger(), nullable=True))
    op.add_column("uploads", sa.Column("shared_id", sa.String(length=36), nullable=True))
    op.add_column("uploads", sa.Column("announcer", sa.String(length=64), nullable=True))
    op.create_index(op.f("ix_uploads_shared_id"), "uploads", ["shared_id"])
