"""Child counts of large folders in the orders of lists other than by name.

A page of a folder by size starts at an offset of an index, and skipping 50,000 entries takes longer than
reading the page. So the children are divided into runs as in
:mod:`strongroom.content.nodes.child_counts`, which
has the orders by name: each run has the key that it starts at, and a count.

Only folders whose names have several runs have them. Uploads to all other folders maintain nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Select,
    String,
    bindparam,
    exists,
    insert,
    literal_column,
    select,
    text,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from strongroom.content.nodes.models import Node, NodeType, folder_counts, folder_order_counts, nodes
from strongroom.content.nodes.node_filters import SortKey
from strongroom.foundation.database.statements import Statement

Key = tuple[Any, str]
"""The value that nodes are sorted by, and the name, which decides among equal values."""

COLUMNS: Final[Mapping[SortKey, Column[Any]]] = {
    SortKey.SIZE: nodes.c.size,
    SortKey.UPDATED_AT: nodes.c.updated_at,
    SortKey.TYPE: nodes.c.type,
}
"""The orders that have runs. Each has an index of the folder, this column and the name."""

_TYPES: Final = (NodeType.FILE.value, NodeType.FOLDER.value)
"""The types in their order; a run has the position of a type."""

_BEFORE_ALL: Final = -1
"""The value that the first run of an order starts at, so that each key belongs to a run."""

_runs: Final = folder_order_counts
_RUN: Final = (_runs.c.folder_id, _runs.c.sort, _runs.c.first_value, _runs.c.first_name)
_OF_FOLDER: Final = _runs.c.folder_id == bindparam("of_folder")


def _run_of(sort: SortKey) -> Select[Any]:
    """Return the query for the run of a node: the last one that starts at or before it."""
    others = _runs.alias()
    key = tuple_(bindparam(f"of_{sort}", type_=BigInteger), bindparam("of_name"))
    columns = [others.c[column.name] for column in _RUN]
    runs = (
        select(*columns)
        .where(
            others.c.folder_id == bindparam("of_folder"), others.c.sort == literal_column(f"'{sort}'")
        )
        .where(tuple_(others.c.first_value, others.c.first_name) <= key)
        .order_by(others.c.first_value.desc(), others.c.first_name.desc())
        .limit(literal_column("1"))
    )
    return select(*runs.subquery().c)


def _changing() -> ReturningUpdate[Any]:
    changed = union_all(*(_run_of(sort) for sort in COLUMNS))
    return (
        update(_runs)
        .where(tuple_(*_RUN).in_(changed))
        .values(children=_runs.c.children + bindparam("difference", type_=BigInteger))
        .returning(*_RUN[1:], _runs.c.children)
    )


def _keys(sort: SortKey) -> Select[Any]:
    """Return the query for the key of the child at a position after another key."""
    column = COLUMNS[sort]
    start = tuple_(bindparam("of_value", type_=column.type), bindparam("of_name"))
    return (
        select(column, nodes.c.name)
        .where(nodes.c.parent_id == bindparam("of_folder"), tuple_(column, nodes.c.name) >= start)
        .order_by(column, nodes.c.name)
        .offset(bindparam("position"))
        .limit(literal_column("1"))
    )


_CHANGE: Final = Statement(lambda _: _changing(), tuple)
_KEY_AT: Final = {sort: Statement(_keys(sort), tuple) for sort in COLUMNS}
_ADD_RUN: Final = Statement(insert(_runs))
_SHRINK_RUN: Final = Statement(
    update(_runs)
    .where(
        _OF_FOLDER,
        _runs.c.sort == bindparam("of_sort"),
        _runs.c.first_value == bindparam("of_value", type_=BigInteger),
        _runs.c.first_name == bindparam("of_name"),
    )
    .values(children=bindparam("half"))
)
_RUNS: Final = Statement(
    select(_runs.c.first_value, _runs.c.first_name, _runs.c.children)
    .where(_OF_FOLDER, _runs.c.sort == bindparam("of_sort", type_=String))
    .order_by(_runs.c.first_value, _runs.c.first_name),
    tuple,
)
_REMOVE: Final = Statement(_runs.delete().where(_OF_FOLDER))
_LARGE: Final = Statement(
    select(folder_counts.c.folder_id, nodes.c.tenant_id)
    .join(nodes, nodes.c.id == folder_counts.c.folder_id)
    .where(folder_counts.c.first_name != literal_column("''"))
    .distinct(),
    tuple,
)

# Each row begins a run of :run children; the first one begins before all of them.
_COUNT: Final = """
INSERT INTO folder_order_counts (folder_id, sort, first_value, first_name, children)
SELECT parent_id, '{sort}', CASE WHEN place = 1 THEN -1 ELSE value END,
       CASE WHEN place = 1 THEN '' ELSE name END,
       lead(place, 1, total + 1) OVER (ORDER BY place) - place
FROM (SELECT parent_id, {value} AS value, name, count(*) OVER () AS total,
             row_number() OVER (ORDER BY {column}, name) AS place
      FROM nodes WHERE parent_id = :of_folder) AS placed
WHERE (place - 1) % :run = 0
"""
_VALUES: Final = {SortKey.TYPE: f"CASE type WHEN '{_TYPES[1]}' THEN 1 ELSE 0 END"}
_BUILD: Final = [
    Statement(text(_COUNT.format(sort=sort, column=column.name, value=_VALUES.get(sort, column.name))))
    for sort, column in COLUMNS.items()
]


def has_runs(folder_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the SQL expression whether the children of a folder are counted here."""
    return exists().where(_runs.c.folder_id == folder_id)


def change(connection: Connection, node: Node, difference: int, split_above: int) -> bool:
    """Count a node that was added to its folder (1) or taken out of it (-1), if the folder has runs.

    Runs that grow above ``split_above`` nodes are split. Return whether the folder has runs.
    """
    row = {
        "of_folder": node.parent_id,
        "of_name": node.name,
        f"of_{SortKey.SIZE}": node.size,
        f"of_{SortKey.UPDATED_AT}": node.updated_at,
        f"of_{SortKey.TYPE}": _TYPES.index(node.type),
        "difference": difference,
    }
    runs = _CHANGE.all(connection, row)
    for sort, value, name, children in runs:
        if children > split_above:
            _split(connection, node.parent_id or "", SortKey(sort), (value, name), children)
    return bool(runs)


def build(connection: Connection, folder_id: str, run: int) -> None:
    """Count the children of a folder again, in all orders and in runs of the given number."""
    _REMOVE.execute(connection, {"of_folder": folder_id})
    for statement in _BUILD:
        statement.execute(connection, {"of_folder": folder_id, "run": run})


def large_folders(connection: Connection) -> Sequence[tuple[str, str]]:
    """Return the ids of the folders whose names have several runs, and of their tenants."""
    return _LARGE.all(connection)


def start_of_page(
    connection: Connection, folder_id: str, sort: SortKey, offset: int, total: int
) -> Sequence[Any] | None:
    """Return the value and the name of the child at an offset, or ``None`` if it is gone.

    Args:
        sort: the order, ascending.
        offset: the number of children before it.
    """
    runs = _RUNS.all(connection, {"of_folder": folder_id, "of_sort": sort.value})
    start, passed = (_BEFORE_ALL, ""), 0
    # Servers of a version without these counts may have changed the folder while it was upgraded.
    if sum(run[2] for run in runs) == total:
        for value, name, children in runs:
            if passed + children > offset:
                start = (value, name)
                break
            passed += children
    row = {"of_folder": folder_id, "of_value": _bound(sort, start[0]), "of_name": start[1]}
    return _KEY_AT[sort].first(connection, {**row, "position": offset - passed})


def _split(connection: Connection, folder_id: str, sort: SortKey, start: Key, children: int) -> None:
    # Changes hold the tenant lock, so no other transaction splits the same run.
    half = children // 2
    run = {"of_folder": folder_id, "of_name": start[1]}
    middle = _KEY_AT[sort].first(
        connection, {**run, "of_value": _bound(sort, start[0]), "position": half}
    )
    if middle is None:
        # The counts are wrong; `files reindex` corrects them.
        return
    value = _TYPES.index(middle[0]) if sort is SortKey.TYPE else middle[0]
    row = {"folder_id": folder_id, "sort": sort.value, "first_value": value, "first_name": middle[1]}
    _ADD_RUN.execute(connection, {**row, "children": children - half})
    _SHRINK_RUN.execute(connection, {**run, "of_sort": sort.value, "of_value": start[0], "half": half})


def _bound(sort: SortKey, value: int) -> Any:
    """Return the value of a run as that of the column."""
    if sort is not SortKey.TYPE:
        return value
    return "" if value == _BEFORE_ALL else _TYPES[value]
