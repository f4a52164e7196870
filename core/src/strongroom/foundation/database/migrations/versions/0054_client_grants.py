"""Add what an authorization has that is a client's grant and no login.

Older code refuses the tokens of grants, and ends grants like logins.
"""

import sqlalchemy as sa

from strongroom.plugin_api import migrations

revision = "0054"
down_revision = "0053"


def upgrade() -> None:
    migrations.add_column("authorizations", sa.Column("plugin", sa.String(length=64)))
    migrations.add_column("authorizations", sa.Column("client_id", sa.String(length=512)))
    migrations.add_column("authorizations", sa.Column("client_name", sa.String(length=255)))
    migrations.add_column("authorizations", sa.Column("ends_with_id", sa.String(length=36)))
    migrations.add_column("authorizations", sa.Column("folder_id", sa.String(length=36)))
    migrations.add_column("authorizations", sa.Column("terms", sa.JSON))
    for column in ("client_id", "ends_with_id"):
        where = sa.text(f"{column} IS NOT NULL")
        migrations.create_index(
            f"ix_authorizations_{column}",
            "authorizations",
            [column],
            sqlite_where=where,
            postgresql_where=where,
        )
