"""The index of names: finds the nodes of a tenant whose names contain a text, most recent names first.

The index is maintained in the transaction that creates or renames a node; the foreign key removes the
row of a deleted one. Both databases find candidates by *grams*, the pairs of adjacent characters of a
folded name, and then compare the folded name itself. So a candidate too many costs time only.

- Texts of two characters are found in every script. The trigrams of SQLite's FTS5 and PostgreSQL's
  pg_trgm find no Chinese word of two characters, and words are not separated in Chinese.
- A gram is stored as a 32-bit number, the CRC-32 of the tenant and the gram. So each tenant has its own
  posting lists, and the index is small.
- Single characters are grams, too, except those that are in many names: these are found by reading the
  names.

PostgreSQL has the grams in an array with a GIN index, which collects new entries and
sorts them in later.
SQLite has them in a contentless FTS5 table, whose row id is the number of the name. There an insertion
costs much more in a transaction of its own than among many. So the names are indexed in blocks, by the
transaction that adds the last name of a block, and searches read the names of the unfinished block. The
table cannot delete entries in the version that Debian 12 has: a name that changes gets a new number, and
an entry whose number is gone is no candidate.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    String,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal_column,
    select,
    table,
    text,
)

from strongroom.content.nodes.models import Node
from strongroom.content.nodes.names import fold_name
from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.database.statements import Statement

search_names: Final = table(
    "search_names",
    column("number", BigInteger),
    column("tenant_id", String),
    column("node_id", String),
    column("folded", Text),
)
"""The folded name of each node. ``number`` increases with each new or changed name.

It and the index are no part of the metadata: they are made by migrations, and backups leave them out,
because :mod:`strongroom.content.files.reindexing` derives them from the nodes.
"""

_fts: Final = table("name_index", column("rowid", BigInteger))
"""The FTS5 table of SQLite."""

COMMON: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789 .-_")
"""Characters without a gram of their own."""

_MAX_GRAMS: Final = 6
"""Number of grams of a search: each further one costs more than the candidates that it excludes."""

BLOCK = 512
"""Number of names that SQLite indexes at once. Changing it requires `strongroom files reindex`."""

_SAMPLE: Final = 5000
"""Number of names that show how frequent a text is."""

_BREAK_EVEN: Final = 72
"""See :func:`_is_frequent`; measured on PostgreSQL."""

_MANY: Final = 180_000
"""Number of visible nodes if it is unknown: a text in more than 2 % of the names is frequent."""

_INT32: Final = 1 << 31


def grams_of(tenant_id: str, folded: str) -> set[int]:
    """Return the grams of a folded name as unsigned 32-bit numbers."""
    singles = set(folded) - COMMON
    return _numbers(tenant_id, {*singles, *_pairs(folded)})


def wanted_grams(tenant_id: str, folded: str) -> set[int]:
    """Return grams that each name with the folded text has; none if only reading the names finds it."""
    if len(folded) == 1:
        return set() if folded in COMMON else _numbers(tenant_id, {folded})
    pairs = _pairs(folded)
    if len(pairs) > _MAX_GRAMS:
        last = len(pairs) - 1
        pairs = [pairs[number * last // (_MAX_GRAMS - 1)] for number in range(_MAX_GRAMS)]
    return _numbers(tenant_id, set(pairs))


def _pairs(folded: str) -> list[str]:
    return [first + second for first, second in pairwise(folded)]


def _numbers(tenant_id: str, pieces: set[str]) -> set[int]:
    tenant = zlib.crc32(tenant_id.encode())
    return {zlib.crc32(piece.encode(), tenant) for piece in pieces}


def int_array(numbers: set[int]) -> list[int]:
    """Return the numbers as signed integers of 32 bits."""
    return [number - _INT32 for number in sorted(numbers)]


_ADD: Final = {
    "sqlite": "INSERT INTO search_names (tenant_id, node_id, folded) "
    "VALUES (:tenant_id, :node_id, :folded)",
    "postgresql": "INSERT INTO search_names (tenant_id, node_id, folded, grams) "
    "VALUES (:tenant_id, :node_id, :folded, CAST(:grams AS integer[]))",
}
_ADD_NAME: Final = Statement(lambda dialect: text(_ADD[dialect]))
_REMOVE: Final = Statement(text("DELETE FROM search_names WHERE node_id = :node_id"))
_BLOCK_OF: Final = Statement(
    select(search_names.c.number, search_names.c.tenant_id, search_names.c.folded).where(
        search_names.c.number > bindparam("after"), search_names.c.number <= bindparam("last")
    ),
    tuple,
)
_INDEX: Final = Statement(text("INSERT INTO name_index (rowid, grams) VALUES (:number, :grams)"))


def add(connection: Connection, node: Node, others: Sequence[Change] = ()) -> None:
    """Add the name of a node to the index.

    Args:
        connection: the transaction that creates or renames the node.
        others: other changes, which PostgreSQL executes in the same round trip.
    """
    folded = fold_name(node.name)
    row: dict[str, object] = {"tenant_id": node.tenant_id, "node_id": node.id, "folded": folded}
    if connection.dialect.name == "postgresql":
        grams = int_array(grams_of(node.tenant_id, folded))
        execute_together(connection, [*others, Change(_ADD_NAME, {**row, "grams": grams})])
        return
    execute_together(connection, others)
    number = _ADD_NAME.insert(connection, row)
    if number % BLOCK == 0:
        names = _BLOCK_OF.all(connection, {"after": number - BLOCK, "last": number})
        _INDEX.execute(connection, [fts_row(*name) for name in names])


def rename(connection: Connection, node: Node) -> None:
    """Replace the name of a node in the index."""
    _REMOVE.execute(connection, {"node_id": node.id})
    add(connection, node)


def fts_row(number: int, tenant_id: str, folded: str) -> dict[str, object]:
    """Return the row of the FTS5 table for a name."""
    grams = grams_of(tenant_id, folded)
    return {"number": number, "grams": " ".join(f"{gram:x}" for gram in grams)}


def indexed_until() -> ColumnElement[int]:
    """Return the number of the last name that SQLite has indexed."""
    sequence = table("sqlite_sequence", column("name", String), column("seq", BigInteger))
    block = bindparam("block", type_=BigInteger)
    last = select(sequence.c.seq - sequence.c.seq % block).where(
        sequence.c.name == literal_column("'search_names'")
    )
    return func.coalesce(last.scalar_subquery(), 0)


Source = Callable[[str], FromClause]
"""Returns the matching names as rows (number, node_id), for a dialect."""


class NameMatch:
    """The condition that the name of a node of a tenant contains a text."""

    def __init__(self, tenant_id: str, text: str) -> None:
        folded = fold_name(text)
        numbers = wanted_grams(tenant_id, folded)
        self.has_grams: Final = bool(numbers)
        self.parameters: Final[Mapping[str, object]] = {
            "tenant_id": tenant_id,
            "wanted": folded,
            "fts_query": " AND ".join(f'"{number:x}"' for number in sorted(numbers)),
            "grams": int_array(numbers),
            "block": BLOCK,
        }


def by_reading(dialect: str) -> FromClause:
    """Return the matching names (number, node_id), found by reading the names of the tenant."""
    columns = select(search_names.c.number, search_names.c.node_id)
    return columns.where(contains_text(dialect)).subquery("found")


def unindexed(dialect: str) -> FromClause:
    """Return the matching names (number, node_id) of SQLite's unfinished block."""
    columns = select(search_names.c.number, search_names.c.node_id)
    recent = search_names.c.number > indexed_until()
    return columns.where(recent, contains_text(dialect)).subquery("found")


def by_grams(dialect: str) -> FromClause:
    """Return the matching names (number, node_id), found by their grams."""
    if dialect == "sqlite":
        # The row id of FTS5, because it is returned in descending order without sorting.
        columns = select(_fts.c.rowid.label("number"), search_names.c.node_id)
        joined = columns.join(_fts, _fts.c.rowid == search_names.c.number)
        matches = literal_column("name_index").op("MATCH")(bindparam("fts_query", type_=Text))
        is_indexed = _fts.c.rowid <= indexed_until()
        return joined.where(matches, is_indexed, contains_text(dialect)).subquery("found")
    grams = cast(bindparam("grams"), ARRAY(Integer))
    has_grams = literal_column("search_names.grams", ARRAY(Integer)).op("@>")(grams)
    columns = select(search_names.c.number, search_names.c.node_id)
    matching = columns.where(has_grams, contains_text(dialect)).cte("matching")
    # The planner would otherwise rather read all names in the order of the result than sort the found
    # ones.
    return matching.prefix_with("MATERIALIZED").alias("found")


def contains_text(dialect: str) -> ColumnElement[bool]:
    """Return the condition of :class:`NameMatch` on :data:`search_names`."""
    position = func.instr if dialect == "sqlite" else func.strpos
    offset: ColumnElement[int] = position(search_names.c.folded, bindparam("wanted", type_=Text))
    return (offset > 0) & (search_names.c.tenant_id == bindparam("tenant_id"))


def _newest_matching(_: str) -> Select[Any]:
    newest = select(search_names.c.folded, search_names.c.tenant_id)
    newest = newest.where(search_names.c.tenant_id == bindparam("tenant_id"))
    newest = newest.order_by(search_names.c.number.desc()).limit(literal_column(str(_SAMPLE)))
    sample = newest.subquery("search_names")
    matching = func.strpos(sample.c.folded, bindparam("wanted", type_=Text)) > 0
    return select(func.count()).select_from(sample).where(matching)


_NEWEST_MATCHING: Final = Statement(_newest_matching)


def _is_frequent(matching: int, visible: int) -> bool:
    """Return whether reading the names in order costs less than finding all matches by their grams.

    Reading ends with the last hit, so the number of names that it reads is inversely proportional to the
    share of the names that match and to the share that the caller sees. The number of matches is
    proportional to the first share. So the costs are equal at a square of it, times the visible nodes.

    Args:
        matching: how many names of the sample match.
        visible: the number of nodes that the caller sees.
    """
    return (matching / _SAMPLE) ** 2 * visible > _BREAK_EVEN


def sources(connection: Connection, match: NameMatch, visible: int = _MANY) -> list[Source]:
    """Return the sources of all matching names; those of the first one are more recent.

    The index of SQLite returns names in order. That of PostgreSQL returns all matches, so it is slow for
    a text that many names contain. A sample of the recent names shows that; then reading them in order
    finds enough matches soon, unless the caller sees few of them.

    Args:
        visible: the number of nodes that the caller sees.
    """
    if not match.has_grams:
        return [by_reading]
    if connection.dialect.name == "sqlite":
        return [unindexed, by_grams]
    matching: int = _NEWEST_MATCHING.scalar(connection, match.parameters)
    return [by_reading if _is_frequent(matching, visible) else by_grams]
