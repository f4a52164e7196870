"""Add the indexes of lists by size, time and type, and the child counts of large folders by them."""

import sqlalchemy as sa
from alembic import op

from strongroom.plugin_api import migrations

revision = "0026"
down_revision = "0025"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")
_RUN = 2048
_ORDERS = (
    ("size", "size", "size"),
    ("updatedAt", "updated_at", "updated_at"),
    ("type", "type", "CASE type WHEN 'folder' THEN 1 ELSE 0 END"),
)
# A folder is large if its names have several runs. Each row begins a run of its folder.
_COUNT = """
INSERT INTO folder_order_counts (folder_id, sort, first_value, first_name, children)
SELECT parent_id, '{sort}', CASE WHEN place = 1 THEN -1 ELSE value END,
       CASE WHEN place = 1 THEN '' ELSE name END,
       lead(place, 1, total + 1) OVER (PARTITION BY parent_id ORDER BY place) - place
FROM (SELECT parent_id, {value} AS value, name, count(*) OVER (PARTITION BY parent_id) AS total,
             row_number() OVER (PARTITION BY parent_id ORDER BY {column}, name) AS place
      FROM nodes
      WHERE parent_id IN (SELECT folder_id FROM folder_counts WHERE first_name > '')) AS placed
WHERE (place - 1) % {run} = 0
"""


def upgrade() -> None:
    for _, column, _ in _ORDERS:
        migrations.create_index(
            f"ix_nodes_parent_id_{column}_name", "nodes", ["parent_id", column, "name"]
        )
    op.create_table(
        "folder_order_counts",
        sa.Column("folder_id", sa.String(length=36), nullable=False),
        sa.Column("sort", sa.String(length=16), nullable=False),
        sa.Column("first_value", sa.BigInteger(), nullable=False),
        sa.Column("first_name", _NAME, nullable=False),
        sa.Column("children", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["nodes.id"], name="fk_folder_order_counts_folder_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint(
            "folder_id", "sort", "first_value", "first_name", name="pk_folder_order_counts"
        ),
    )
    for sort, column, value in _ORDERS:
        op.execute(sa.text(_COUNT.format(sort=sort, column=column, value=value, run=_RUN)))
