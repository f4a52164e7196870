"""Child counts of large folders in the order of each list.

A page of a folder by size starts at an offset of an index, and skipping 50,000 entries takes longer than
reading the page. So the children are divided into runs: each has the key that it starts at, and a count.
Lists with folders first have runs of the folders and of the files.

Only folders whose names have several runs in :mod:`strongroom.content.nodes.child_counts` have them.
Uploads to all other folders maintain nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    cast,
    exists,
    func,
    insert,
    literal_column,
    select,
    text,
    tuple_,
    union_all,
    update,
)
from sqlalchemy.sql.dml import ReturningUpdate

from strongroom.content.nodes.models import Node, NodeType, folder_counts, folder_runs, nodes
from strongroom.content.nodes.node_filters import ListSection, SortKey
from strongroom.foundation.database.metadata import SortKeyText
from strongroom.foundation.database.statements import Statement

Key = tuple[int, str]
"""The value that nodes are sorted by, and the sort key, which decides among equal values."""

_VALUES: Final[Mapping[SortKey, Column[Any]]] = {
    SortKey.SIZE: nodes.c.size,
    SortKey.UPDATED_AT: nodes.c.updated_at,
}

SECTIONS: Final = (
    *(ListSection(None, key) for key in (SortKey.NAME, *_VALUES)),
    *(ListSection(NodeType.FILE, key) for key in (SortKey.NAME, *_VALUES)),
    # All folders have the size 0.
    *(ListSection(NodeType.FOLDER, key) for key in (SortKey.NAME, SortKey.UPDATED_AT)),
)
"""The sections that have runs. Each has an index of the folder and its columns."""

_BEFORE_ALL: Final[Key] = (-1, "")
"""The key that the first run of a section starts at, so that each key belongs to a run."""

_RUN: Final = (
    folder_runs.c.folder_id,
    folder_runs.c.list,
    folder_runs.c.first_value,
    folder_runs.c.first_key,
)
_OF_FOLDER: Final = folder_runs.c.folder_id == bindparam("of_folder")
_OF_LIST: Final = folder_runs.c.list == bindparam("of_list")


def key_columns(section: ListSection) -> Sequence[Column[Any]]:
    """Return the columns of :data:`nodes` that a section is sorted by."""
    value = _VALUES.get(section.key)
    return (nodes.c.sort_key,) if value is None else (value, nodes.c.sort_key)


def is_from_first(columns: Sequence[Column[Any]]) -> ColumnElement[bool]:
    """Return the condition that the key of a row is at or after the parameters of :func:`first_key`."""
    first = [bindparam(f"first_{column.name}", type_=column.type) for column in columns]
    # One comparison of all columns, which is one range of the index.
    return tuple_(*columns) >= tuple_(*first) if len(columns) > 1 else columns[0] >= first[0]


def first_key(columns: Sequence[Column[Any]], key: Sequence[Any]) -> dict[str, Any]:
    """Return the parameters of :func:`is_from_first`."""
    return {f"first_{column.name}": value for column, value in zip(columns, key, strict=True)}


def in_section(section: ListSection, folder: str) -> ColumnElement[bool]:
    """Return the condition that a node is in a section of the folder that a parameter names."""
    is_in_folder = nodes.c.parent_id == bindparam(folder)
    if section.type is None:
        return is_in_folder
    return is_in_folder & (nodes.c.type == literal_column(f"'{section.type}'"))


def _run_query(section: ListSection) -> Select[Any]:
    """Return the query for the run of a node: the last one that starts at or before it."""
    other_runs = folder_runs.alias()
    key = tuple_(
        bindparam(f"of_{section.key}", type_=BigInteger), bindparam("of_key", type_=SortKeyText)
    )
    runs = (
        select(*(other_runs.c[column.name] for column in _RUN))
        .where(other_runs.c.folder_id == bindparam("of_folder"))
        .where(other_runs.c.list == literal_column(f"'{section.label}'"))
        .where(tuple_(other_runs.c.first_value, other_runs.c.first_key) <= key)
        .order_by(other_runs.c.first_value.desc(), other_runs.c.first_key.desc())
        .limit(literal_column("1"))
    )
    return select(*runs.subquery().c)


def _changing(kind: NodeType) -> ReturningUpdate[Any]:
    changed = union_all(*(_run_query(section) for section in SECTIONS if section.type in (None, kind)))
    return (
        update(folder_runs)
        .where(tuple_(*_RUN).in_(changed))
        .values(children=folder_runs.c.children + bindparam("difference", type_=BigInteger))
        .returning(*_RUN[1:], folder_runs.c.children)
    )


def _keys(section: ListSection) -> Select[Any]:
    """Return the query for the key of the child at a position after another key."""
    columns = key_columns(section)
    return (
        select(*columns)
        .where(in_section(section, "of_folder"), is_from_first(columns))
        .order_by(*columns)
        .offset(bindparam("position"))
        .limit(literal_column("1"))
    )


_CHANGE: Final = {kind.value: Statement(_changing(kind), tuple) for kind in NodeType}
_KEY_AT: Final = {section: Statement(_keys(section), tuple) for section in SECTIONS}
_ADD_RUN: Final = Statement(insert(folder_runs))
_SHRINK_RUN: Final = Statement(
    update(folder_runs)
    .where(_OF_FOLDER, _OF_LIST)
    .where(
        folder_runs.c.first_value == bindparam("of_value", type_=BigInteger),
        folder_runs.c.first_key == bindparam("of_key"),
    )
    .values(children=bindparam("half"))
)
_RUNS: Final = Statement(
    select(folder_runs.c.first_value, folder_runs.c.first_key, folder_runs.c.children)
    .where(_OF_FOLDER, _OF_LIST)
    .order_by(folder_runs.c.first_value, folder_runs.c.first_key),
    tuple,
)
_COUNTS: Final = Statement(
    select(folder_runs.c.list, cast(func.sum(folder_runs.c.children), BigInteger))
    .where(_OF_FOLDER, folder_runs.c.list.in_(["file/name", "folder/name"]))
    .group_by(folder_runs.c.list),
    tuple,
)
_FOLDERS: Final = Statement(
    select(func.count())
    .select_from(nodes)
    .where(in_section(ListSection(NodeType.FOLDER, SortKey.NAME), "of_folder"))
)
_REMOVE: Final = Statement(folder_runs.delete().where(_OF_FOLDER))
_LARGE: Final = Statement(
    select(folder_counts.c.folder_id, nodes.c.tenant_id)
    .join(nodes, nodes.c.id == folder_counts.c.folder_id)
    .where(folder_counts.c.first_name != literal_column("''"))
    .distinct(),
    tuple,
)

# Each row begins a run of :run children; the first one begins before all, even if there are none.
_COUNT: Final = """
INSERT INTO folder_runs (folder_id, list, first_value, first_key, children)
SELECT :of_folder, '{label}', CASE WHEN place = 1 THEN -1 ELSE value END,
       CASE WHEN place = 1 THEN '' ELSE sort_key END,
       lead(place, 1, total + 1) OVER (ORDER BY place) - place
FROM (SELECT {value} AS value, sort_key, count(*) OVER () AS total,
             row_number() OVER (ORDER BY {value}, sort_key) AS place
      FROM nodes WHERE parent_id = :of_folder {is_listed}) AS placed
WHERE (place - 1) % :run = 0
UNION ALL
SELECT :of_folder, '{label}', -1, '', 0
WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE parent_id = :of_folder {is_listed})
"""


def _counting(section: ListSection) -> Statement[Any]:
    column = _VALUES.get(section.key)
    value = "0" if column is None else column.name
    is_listed = f"AND type = '{section.type}'" if section.type else ""
    return Statement(text(_COUNT.format(label=section.label, value=value, is_listed=is_listed)))


_BUILD: Final = [_counting(section) for section in SECTIONS]


def has_runs(folder_id: ColumnElement[str]) -> ColumnElement[bool]:
    """Return the SQL expression whether the children of a folder are counted here."""
    return exists().where(folder_runs.c.folder_id == folder_id)


def change(connection: Connection, node: Node, difference: int, split_above: int) -> bool:
    """Count a node that was added to its folder (1) or taken out of it (-1), if the folder has runs.

    Runs that grow above ``split_above`` nodes are split. Return whether the folder has runs.
    """
    row = {
        "of_folder": node.parent_id,
        "of_key": node.sort_key,
        f"of_{SortKey.NAME}": 0,
        f"of_{SortKey.SIZE}": node.size,
        f"of_{SortKey.UPDATED_AT}": node.updated_at,
        "difference": difference,
    }
    runs = _CHANGE[node.type].all(connection, row)
    for label, value, key, children in runs:
        if children > split_above:
            _split(connection, node.parent_id or "", ListSection.parse(label), (value, key), children)
    return bool(runs)


def build(connection: Connection, folder_id: str, run: int) -> None:
    """Count the children of a folder again, in all orders and in runs of the given number."""
    _REMOVE.execute(connection, {"of_folder": folder_id})
    for statement in _BUILD:
        statement.execute(connection, {"of_folder": folder_id, "run": run})


def large_folders(connection: Connection) -> Sequence[tuple[str, str]]:
    """Return the ids of the folders whose names have several runs, and of their tenants."""
    return _LARGE.all(connection)


def count_folders(connection: Connection, folder_id: str, total: int) -> int:
    """Return the number of folders in a folder.

    Args:
        total: the number of its children.
    """
    of_folder = {"of_folder": folder_id}
    counts: dict[str, int] = dict(_COUNTS.all(connection, of_folder))
    # Servers of a version without these counts may have changed the folder while it was upgraded.
    if counts and sum(counts.values()) == total:
        return int(counts["folder/name"])
    return int(_FOLDERS.scalar(connection, of_folder))


def start_of_page(
    connection: Connection, folder_id: str, section: ListSection, offset: int, total: int
) -> Sequence[Any] | None:
    """Return the values of :func:`key_columns` of the child at an offset, or ``None`` if it is gone.

    Args:
        section: the section, ascending.
        offset: the number of children of the section before it.
        total: the number of all children of the section.
    """
    runs = _RUNS.all(connection, {"of_folder": folder_id, "of_list": section.label})
    start, passed = _BEFORE_ALL, 0
    # As in count_folders().
    if sum(run[2] for run in runs) == total:
        for value, key, children in runs:
            if passed + children > offset:
                start = (value, key)
                break
            passed += children
    return _key_at(connection, folder_id, section, start, offset - passed)


def _key_at(
    connection: Connection, folder_id: str, section: ListSection, start: Key, position: int
) -> Sequence[Any] | None:
    columns = key_columns(section)
    row = {"of_folder": folder_id, "position": position}
    return _KEY_AT[section].first(connection, {**row, **first_key(columns, start[-len(columns) :])})


def _split(
    connection: Connection, folder_id: str, section: ListSection, start: Key, children: int
) -> None:
    # Changes hold the tenant lock, so no other transaction splits the same run.
    half = children // 2
    middle = _key_at(connection, folder_id, section, start, half)
    if middle is None:
        # The counts are wrong; `files reindex` corrects them.
        return
    value, key = (0, *middle)[-2:]
    row = {"folder_id": folder_id, "list": section.label, "first_value": value, "first_key": key}
    _ADD_RUN.execute(connection, {**row, "children": children - half})
    run = {"of_folder": folder_id, "of_list": section.label, "of_value": start[0], "of_key": start[1]}
    _SHRINK_RUN.execute(connection, {**run, "half": half})
