"""Sort lists of users, tenants and groups by the root collation of Unicode.

They get the sort key of the name. A server of the version before adds and renames them without it while
it runs alongside; the keys of users are corrected by ``strongroom users reindex``, others by a rename.
"""

from typing import Final

import sqlalchemy as sa

from strongroom.foundation.collation import sort_key
from strongroom.plugin_api import migrations

revision = "0052"
down_revision = "0051"
oldest_code = "0001"
"""Older code needs none of the removed indexes to be right."""

_KEY: Final = sa.String(length=511).with_variant(sa.String(length=511, collation="C"), "postgresql")
_BATCH: Final = 1000
_NAMES: Final = "SELECT id, name FROM {table} WHERE id > :last ORDER BY id LIMIT :batch"
_SET: Final = "UPDATE {table} SET sort_key = :key WHERE id = :id"
_FILTERS: Final = ((), ("status",), ("type",))
_LIVE: Final = sa.text("deleted_at IS NULL")


def upgrade() -> None:
    for table in ("users", "tenants", "groups"):
        migrations.add_column(table, sa.Column("sort_key", _KEY, nullable=False, server_default=""))
        _fill(table)
    _replace_indexes_of_users()
    migrations.create_index(
        "ix_tenants_sort_key_id_deleted_at", "tenants", ["sort_key", "id", "deleted_at"]
    )
    migrations.create_index("ix_groups_tenant_id_sort_key_id", "groups", ["tenant_id", "sort_key", "id"])


def _fill(table: str) -> None:
    last = ""
    query, change = (sa.text(text.format(table=table)) for text in (_NAMES, _SET))

    def step(connection: sa.Connection) -> int:
        nonlocal last
        rows = connection.execute(query, {"last": last, "batch": _BATCH}).all()
        if rows:
            connection.execute(change, [{"id": row.id, "key": sort_key(row.name)} for row in rows])
            last = rows[-1].id
        return len(rows)

    migrations.backfill(step, _BATCH)


def _replace_indexes_of_users() -> None:
    for filtered in _FILTERS:
        former, name = (
            "_".join(["ix_users", *filtered, column, "id_deleted_at"]) for column in ("name", "sort_key")
        )
        columns = [*filtered, "sort_key", "id", "deleted_at"]
        migrations.create_index(name, "users", columns, sqlite_where=_LIVE, postgresql_where=_LIVE)
        migrations.drop_index(former, "users")
