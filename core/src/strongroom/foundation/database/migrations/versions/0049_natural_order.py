"""Sort lists of nodes by the root collation of Unicode, and folders before files on request.

Nodes and their grants get the sort key of the name, and the indexes of lists have it in place of the
name. The counts of large folders by these lists are in a new table.

A server of the version before adds nodes without a key while it runs alongside, and renames them without
changing it. These are at a wrong place of lists until they are renamed, or until ``strongroom files
reindex``. Without its indexes, that version sorts lists in memory.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from strongroom.foundation.collation import sort_key
from strongroom.plugin_api import migrations

revision = "0049"
down_revision = "0048"
oldest_code = "0001"
"""Older code needs none of the removed indexes to be right, and finds that its counts are missing."""

_KEY = sa.String(length=511).with_variant(sa.String(length=511, collation="C"), "postgresql")
_BATCH = 1000
_NAMES = "SELECT id, name FROM nodes WHERE id > :last AND name <> '' ORDER BY id LIMIT :batch"
_SET = "UPDATE nodes SET sort_key = :key WHERE id = :id"
_COPY = """
UPDATE grants SET node_sort_key = nodes.sort_key FROM nodes
WHERE nodes.id = grants.node_id AND grants.node_id > :last AND grants.node_id <= :until
"""

_ORDERS: Sequence[Sequence[str]] = (
    (),
    ("size",),
    ("updated_at",),
    ("type",),
    ("type", "size"),
    ("type", "updated_at"),
)
_FORMER = ("size", "updated_at", "type")
_IS_LISTED = sa.text("parent_visible_until IS NOT NULL")

_RUN = 2048
_LISTS = (
    ("name", "", "0"),
    ("size", "", "size"),
    ("updatedAt", "", "updated_at"),
    ("file/name", "AND type = 'file'", "0"),
    ("file/size", "AND type = 'file'", "size"),
    ("file/updatedAt", "AND type = 'file'", "updated_at"),
    ("folder/name", "AND type = 'folder'", "0"),
    ("folder/updatedAt", "AND type = 'folder'", "updated_at"),
)
_LARGE = "SELECT DISTINCT folder_id FROM folder_counts WHERE first_name > ''"
# A first run that begins before all nodes, even if there are none; each other row begins at a node.
_FIRST_RUNS = """
INSERT INTO folder_runs (folder_id, list, first_value, first_key, children)
SELECT folder_id, '{list}', -1, '', (
    SELECT count(*) FROM (
        SELECT 1 AS one FROM nodes WHERE parent_id = folder_id {is_listed} LIMIT {run}
    ) AS run
)
FROM ({large}) AS large
"""
_OTHER_RUNS = """
INSERT INTO folder_runs (folder_id, list, first_value, first_key, children)
SELECT parent_id, '{list}', value, sort_key,
       lead(place, 1, total + 1) OVER (PARTITION BY parent_id ORDER BY place) - place
FROM (SELECT parent_id, {value} AS value, sort_key, count(*) OVER (PARTITION BY parent_id) AS total,
             row_number() OVER (PARTITION BY parent_id ORDER BY {value}, sort_key) AS place
      FROM nodes WHERE parent_id IN ({large}) {is_listed}) AS placed
WHERE (place - 1) % {run} = 0 AND place > 1
"""


def upgrade() -> None:
    for table, column in (("nodes", "sort_key"), ("grants", "node_sort_key")):
        migrations.add_column(table, sa.Column(column, _KEY, nullable=False, server_default=""))
    _fill()
    _replace_indexes()
    _count()


def _fill() -> None:
    last = ""

    def step(connection: sa.Connection) -> int:
        nonlocal last
        rows = connection.execute(sa.text(_NAMES), {"last": last, "batch": _BATCH}).all()
        if rows:
            keys = [{"id": node_id, "key": sort_key(name)} for node_id, name in rows]
            connection.execute(sa.text(_SET), keys)
            connection.execute(sa.text(_COPY), {"last": last, "until": rows[-1].id})
            last = rows[-1].id
        return len(rows)

    migrations.backfill(step, _BATCH)


def _replace_indexes() -> None:
    for values in _ORDERS:
        name = "_".join(["ix_nodes_parent_id", *values, "sort_key"])
        migrations.create_index(name, "nodes", ["parent_id", *values, "sort_key"])
        copies = [f"node_{value}" for value in values]
        columns = ["user_id", "tenant_id", *copies, "node_sort_key", "node_id"]
        migrations.create_index(
            "_".join(["ix_grants_listed", *values]),
            "grants",
            [*columns, "parent_visible_until", "expires_at"],
            sqlite_where=_IS_LISTED,
            postgresql_where=_IS_LISTED,
        )
    for column in _FORMER:
        migrations.drop_index(f"ix_nodes_parent_id_{column}_name", "nodes")
    for name in ("", *(f"_{column}" for column in _FORMER)):
        migrations.drop_index(f"ix_grants_top_level{name}", "grants")


def _count() -> None:
    op.create_table(
        "folder_runs",
        sa.Column("folder_id", sa.String(length=36), nullable=False),
        sa.Column("list", sa.String(length=16), nullable=False),
        sa.Column("first_value", sa.BigInteger(), nullable=False),
        sa.Column("first_key", _KEY, nullable=False),
        sa.Column("children", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["nodes.id"], name="fk_folder_runs_folder_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("folder_id", "list", "first_value", "first_key", name="pk_folder_runs"),
    )
    for name, is_listed, value in _LISTS:
        values = {"list": name, "is_listed": is_listed, "value": value, "large": _LARGE, "run": _RUN}
        for statement in (_FIRST_RUNS, _OTHER_RUNS):
            op.execute(sa.text(statement.format(**values)))
    # That version then knows that its counts do not add up; it no longer counts what this one changes.
    op.execute("DELETE FROM folder_order_counts")
