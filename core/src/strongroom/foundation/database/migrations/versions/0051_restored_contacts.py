"""Keep when a contact was bound, so that a link gives it back as old as it was.

A contact that a link gave back counted as new. Another link of the same change then removed it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"


def upgrade() -> None:
    op.add_column("contact_links", sa.Column("bound_at", sa.BigInteger))
