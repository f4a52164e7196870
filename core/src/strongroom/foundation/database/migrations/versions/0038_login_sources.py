"""Add what a login was made with: the credential, and the session of the platform that proved it."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    # Without defaults: earlier logins, and logins at servers of the previous version, have neither.
    op.add_column("authorizations", sa.Column("credential_hash", sa.String(length=64)))
    op.add_column("authorizations", sa.Column("upstream_session", sa.String(length=255)))
    for column in ("credential_hash", "upstream_session"):
        condition = sa.text(f"{column} IS NOT NULL")
        op.create_index(
            f"ix_authorizations_{column}",
            "authorizations",
            [column],
            sqlite_where=condition,
            postgresql_where=condition,
        )
