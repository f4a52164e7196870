"""Child counts of folders, updated in the transaction that changes the tree.

A folder's names, by code point, are divided into runs, and each run has a count. Runs are split as they
grow. So the total is a sum over few rows, none of which all uploads to a large folder change. Large
folders are counted in the orders of lists, too; see :mod:`strongroom.content.nodes.order_counts`.
"""

from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    bindparam,
    cast,
    func,
    insert,
    select,
    type_coerce,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from strongroom.content.nodes import order_counts
from strongroom.content.nodes.models import Node, folder_counts, nodes
from strongroom.foundation.database.statements import Statement

SPLIT_ABOVE = 4096
"""Maximum number of nodes in a run."""


def _changing() -> ReturningUpdate[Any]:
    other_counts = folder_counts.alias()
    # The run of a name is the last one that starts at or before it.
    first_name = select(func.max(other_counts.c.first_name)).where(
        other_counts.c.folder_id == bindparam("of_folder"),
        other_counts.c.first_name <= bindparam("of_name"),
    )
    return (
        update(folder_counts)
        .where(
            folder_counts.c.folder_id == bindparam("of_folder"),
            folder_counts.c.first_name == first_name.scalar_subquery(),
        )
        .values(children=folder_counts.c.children + bindparam("difference", type_=BigInteger))
        .returning(
            folder_counts.c.first_name,
            folder_counts.c.children,
            type_coerce(order_counts.has_runs(bindparam("of_folder")), Integer),
        )
    )


_CHANGE: Final = Statement(_changing())
_ADD_RUN: Final = Statement(insert(folder_counts))
_NAME_AT: Final = Statement(
    select(nodes.c.name)
    .where(nodes.c.parent_id == bindparam("of_folder"), nodes.c.name >= bindparam("of_name"))
    .order_by(nodes.c.name)
    .offset(bindparam("position"))
    .limit(1)
)
_SHRINK_RUN: Final = Statement(
    update(folder_counts)
    .where(
        folder_counts.c.folder_id == bindparam("of_folder"),
        folder_counts.c.first_name == bindparam("of_name"),
    )
    .values(children=bindparam("half"))
)


def child_count(folder_id: str | ColumnElement[str]) -> ColumnElement[int]:
    """Return the SQL expression for the number of nodes in a folder."""
    total = select(func.sum(folder_counts.c.children)).where(folder_counts.c.folder_id == folder_id)
    # PostgreSQL sums BIGINT into NUMERIC, which the driver returns as Decimal.
    return cast(func.coalesce(total.scalar_subquery(), 0), BigInteger)


def added(connection: Connection, node: Node) -> None:
    """Count a node that was added to its folder, and split its run if it has grown too large."""
    folder_id = node.parent_id or ""
    run = _change(connection, node, 1)
    if run is None:
        # The first run starts at the empty name, so that every name belongs to a run.
        row = {"folder_id": folder_id, "first_name": "", "children": 1}
        _ADD_RUN.execute(connection, row)
        return
    first_name, children, has_orders = run
    if has_orders:
        order_counts.change(connection, node, 1, SPLIT_ABOVE)
    if children > SPLIT_ABOVE:
        _split(connection, folder_id, first_name, children)
        if not has_orders:
            order_counts.build(connection, folder_id, SPLIT_ABOVE // 2)


def taken_out(connection: Connection, node: Node) -> None:
    """Subtract a node that was removed from its folder."""
    # Empty runs are not merged: each is only one row, and new names may fill it again.
    run = _change(connection, node, -1)
    if run is not None and run[2]:
        order_counts.change(connection, node, -1, SPLIT_ABOVE)


def changed(connection: Connection, before: Node, now: Node) -> None:
    """Count a node whose size or time has changed, in the same folder and by the same name."""
    if order_counts.change(connection, before, -1, SPLIT_ABOVE):
        order_counts.change(connection, now, 1, SPLIT_ABOVE)


def _change(connection: Connection, node: Node, difference: int) -> tuple[str, int, int] | None:
    """Change the count of a name's run.

    Return its first name, its count and whether the folder is counted in other orders; ``None`` without
    a run.
    """
    row = {"of_folder": node.parent_id or "", "of_name": node.name, "difference": difference}
    run: tuple[str, int, int] | None = _CHANGE.first(connection, row)
    return run


def _split(connection: Connection, folder_id: str, first_name: str, children: int) -> None:
    # Changes hold the tenant lock, so no other transaction splits the same run.
    half = children // 2
    run = {"of_folder": folder_id, "of_name": first_name}
    middle = _NAME_AT.scalar(connection, {**run, "position": half})
    row = {"folder_id": folder_id, "first_name": middle, "children": children - half}
    _ADD_RUN.execute(connection, row)
    _SHRINK_RUN.execute(connection, {**run, "half": half})
