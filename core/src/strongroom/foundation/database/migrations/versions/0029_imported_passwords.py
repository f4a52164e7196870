"""Add the schemes of imported password hashes."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
oldest_code = "0001"
"""Older code stores hashes of 60 characters, which the column still has room for. It is refused from the
first imported hash on."""

_IMPORTED = sa.text("scheme <> 'bcrypt_hmac'")


def upgrade() -> None:
    # On SQLite, the table is copied: there is no other way to change a column.
    with op.batch_alter_table("passwords") as table:
        table.alter_column(
            "hash", existing_type=sa.String(length=128), type_=sa.Text(), existing_nullable=False
        )
        # Constant defaults: servers of the version before insert hashes of this scheme as they did.
        table.add_column(
            sa.Column("scheme", sa.String(length=32), nullable=False, server_default="bcrypt_hmac")
        )
        table.add_column(sa.Column("cost", sa.String(length=64), nullable=False, server_default=""))
    op.create_index(
        "ix_passwords_scheme_cost",
        "passwords",
        ["scheme", "cost"],
        sqlite_where=_IMPORTED,
        postgresql_where=_IMPORTED,
    )
