"""An index of texts: finds the rows whose text contains a part, most recently indexed first.

Both databases find candidates by :mod:`~strongroom.foundation.database.grams`, and then compare the
text itself. So a candidate too many costs time only.

PostgreSQL has the grams in an array with a GIN index, which collects new entries and
sorts them in later.
SQLite has them in a contentless FTS5 table, whose row id is the number of the row. There an insertion
costs much more in a transaction of its own than among many. So the texts are indexed in blocks, by the
transaction that adds the last row of a block, and searches read the texts of the unfinished block. The
table cannot delete entries in the version that Debian 12 has: a text that changes gets a new number, and
an entry whose number is gone is no candidate.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    TableClause,
    Text,
    bindparam,
    cast,
    column,
    delete,
    func,
    literal_column,
    select,
    table,
    text,
)

from strongroom.foundation.database.changes import Change, execute_together
from strongroom.foundation.database.grams import Grams, as_array, as_document, as_fts_query
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.text_folding import fold_text

BLOCK = 512
"""Number of rows that SQLite indexes at once. Changing it requires to index all rows again."""

SAMPLE: Final = 5000
"""Number of rows that show how frequent a part is."""

Source = Callable[[str], FromClause]
"""Returns the matching rows (number, and the key of the row), for a dialect."""

Row = Mapping[str, object]


class TextIndex:
    """The index of one table with the columns ``number`` and ``folded``, and a key.

    The index is maintained in the transaction that changes a text; a foreign key removes the row of a
    deleted one. The table has a column ``grams`` on PostgreSQL, and ``number`` increases with each new
    or changed text. The table is no part of the metadata: migrations make it, and backups leave it out,
    because it is derived; see :func:`~strongroom.foundation.database.metadata.is_derived`.

    Args:
        rows: the table.
        key: its column that names the row of another table.
        postings: the name of the FTS5 table of SQLite.
        scope: its column of the part of the rows that a search covers; ``None``: all of them.
        grams: how texts are divided.
        has_marks: whether a search can also require a mark, which the texts end with.
    """

    def __init__(
        self,
        rows: TableClause,
        key: str,
        postings: str,
        scope: str | None = None,
        grams: Grams | None = None,
        *,
        has_marks: bool = False,
    ) -> None:
        self._has_marks: Final = has_marks
        self.rows: Final = rows
        self.key: Final = rows.c[key]
        self.grams: Final = grams or Grams()
        self.postings: Final = postings
        self.columns: Final = tuple(name for name in (scope, key, "folded") if name)
        self._scope: Final = None if scope is None else rows.c[scope]
        self._fts: Final = table(postings, column("rowid", BigInteger))
        self._put: Final = Statement(self._upsert)
        self._remove: Final = Statement(
            delete(rows).where(self.key.in_(bindparam("keys", expanding=True)))
        )
        self._block: Final = Statement(self._numbered(bindparam("after"), bindparam("last")), tuple)
        self._post: Final = Statement(
            text(f"INSERT INTO {postings} (rowid, grams) VALUES (:number, :grams)")  # noqa: S608
        )
        self._matching_newest: Final = Statement(self._newest)

    def put(self, connection: Connection, row: Row, others: Sequence[Change] = ()) -> None:
        """Add the text of a row to the index, or replace it.

        Args:
            connection: the transaction that creates the row or changes its text.
            row: the scope, the key and ``folded``.
            others: other changes, which PostgreSQL executes in the same round trip.
        """
        if connection.dialect.name == "postgresql":
            execute_together(connection, [*others, Change(self._put, self._with_grams(row))])
            return
        execute_together(connection, others)
        number = self._put.insert(connection, row)
        if number % BLOCK == 0:
            block = self._block.all(connection, {"after": number - BLOCK, "last": number})
            self._post.execute(connection, [self.posting(*item) for item in block])

    def put_all(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Do :meth:`put` for several rows, in as few round trips as possible."""
        if connection.dialect.name == "postgresql":
            if rows:
                self._put.execute(connection, [self._with_grams(row) for row in rows])
            return
        for row in rows:
            self.put(connection, row)

    def remove(self, connection: Connection, keys: Collection[str]) -> None:
        """Remove the texts of rows from the index, if it has them."""
        if keys:
            self._remove.execute(connection, {"keys": keys})

    def get_grams(self, row: Row) -> set[int]:
        """Return the grams of a row."""
        scope = "" if self._scope is None else str(row[self._scope.name])
        return self.grams.of_row(scope, str(row["folded"]))

    def posting(self, number: int, scope: str, folded: str) -> dict[str, object]:
        """Return the row of the FTS5 table for a text."""
        return {"number": number, "grams": as_document(self.grams.of_row(scope, folded))}

    def match(self, part: str, scope: str = "", mark: str = "") -> "TextMatch":
        """Return the condition that a text contains a part, and a mark."""
        return TextMatch(self.grams, scope, part, mark)

    def indexed_until(self) -> ColumnElement[int]:
        """Return the number of the last row that SQLite has indexed."""
        sequence = table("sqlite_sequence", column("name", Text), column("seq", BigInteger))
        block = bindparam("block", type_=BigInteger)
        last = select(sequence.c.seq - sequence.c.seq % block).where(
            sequence.c.name == literal_column(f"'{self.rows.name}'")
        )
        return func.coalesce(last.scalar_subquery(), 0)

    def indexed(self, limit: int) -> Select[Any]:
        """Return the query for the next rows after the number ``after`` that SQLite has indexed."""
        rows = self._numbered(bindparam("after"), self.indexed_until())
        return rows.order_by(self.rows.c.number).limit(literal_column(str(limit)))

    def by_reading(self, dialect: str) -> FromClause:
        """Return the matching rows (number, key), found by reading all texts of the scope."""
        return self._select().where(self.contains_part(dialect)).subquery("found")

    def unindexed(self, dialect: str) -> FromClause:
        """Return the matching rows (number, key) of SQLite's unfinished block."""
        recent = self.rows.c.number > self.indexed_until()
        return self._select().where(recent, self.contains_part(dialect)).subquery("found")

    def by_grams(self, dialect: str) -> FromClause:
        """Return the matching rows (number, key), found by their grams."""
        if dialect == "sqlite":
            # The row id of FTS5, because it is returned in descending order without sorting.
            columns = select(self._fts.c.rowid.label("number"), self.key)
            joined = columns.join(self._fts, self._fts.c.rowid == self.rows.c.number)
            matches = literal_column(self.postings).op("MATCH")(bindparam("fts_query", type_=Text))
            is_indexed = self._fts.c.rowid <= self.indexed_until()
            return joined.where(matches, is_indexed, self.contains_part(dialect)).subquery("found")
        grams = cast(bindparam("grams"), ARRAY(Integer))
        has_grams = literal_column(f"{self.rows.name}.grams", ARRAY(Integer)).op("@>")(grams)
        matching = self._select().where(has_grams, self.contains_part(dialect)).cte("matching")
        # The planner would otherwise rather read all texts in the order of the result than sort the
        # found ones.
        return matching.prefix_with("MATERIALIZED").alias("found")

    def contains_part(self, dialect: str) -> ColumnElement[bool]:
        """Return the condition of a :class:`TextMatch` on the rows."""
        contains = self._contains(dialect, self.rows.c.folded)
        return contains if self._scope is None else contains & self._in_scope()

    def _contains(self, dialect: str, folded: ColumnElement[str]) -> ColumnElement[bool]:
        contains: ColumnElement[bool] = _position(dialect, folded, "wanted") > 0
        return contains & (_position(dialect, folded, "mark") > 0) if self._has_marks else contains

    def share(self, connection: Connection, match: "TextMatch") -> float:
        """Return the share of the newest rows of the scope that match, on PostgreSQL."""
        count: int = self._matching_newest.scalar(connection, match.parameters(self))
        return count / SAMPLE

    @property
    def scope_name(self) -> str | None:
        """The name of the column of the scope."""
        return None if self._scope is None else self._scope.name

    def _select(self) -> Select[Any]:
        return select(self.rows.c.number, self.key)

    def _in_scope(self) -> ColumnElement[bool]:
        scope: Any = self._scope
        condition: ColumnElement[bool] = scope == bindparam(scope.name)
        return condition

    def _with_grams(self, row: Row) -> Row:
        return {**row, "grams": as_array(self.get_grams(row))}

    def _upsert(self, dialect: str) -> Any:
        """Return the statement that stores a text; one that is replaced gets a new number, too."""
        columns = ", ".join(self.columns)
        values = ", ".join(f":{name}" for name in self.columns)
        if dialect == "sqlite":
            return text(f"INSERT OR REPLACE INTO {self.rows.name} ({columns}) VALUES ({values})")  # noqa: S608
        changed = ", ".join(f"{name} = excluded.{name}" for name in ("number", *self.columns, "grams"))
        return text(
            f"INSERT INTO {self.rows.name} ({columns}, grams) "  # noqa: S608  names of the code
            f"VALUES ({values}, CAST(:grams AS integer[])) "
            f"ON CONFLICT ({self.key.name}) DO UPDATE SET {changed}"
        )

    def _numbered(self, after: ColumnElement[int], last: ColumnElement[int]) -> Select[Any]:
        scope: Any = literal_column("''") if self._scope is None else self._scope
        columns = select(self.rows.c.number, scope.label("scope"), self.rows.c.folded)
        return columns.where(self.rows.c.number > after, self.rows.c.number <= last)

    def _newest(self, dialect: str) -> Select[Any]:
        newest: Select[Any] = select(self.rows.c.folded)
        if self._scope is not None:
            newest = newest.where(self._in_scope())
        newest = newest.order_by(self.rows.c.number.desc()).limit(literal_column(str(SAMPLE)))
        sample = newest.subquery("newest")
        matching = self._contains(dialect, sample.c.folded)
        return select(func.count()).select_from(sample).where(matching)


class TextMatch:
    """The condition that a text contains a part: case and compatible characters do not matter."""

    def __init__(self, grams: Grams, scope: str, part: str, mark: str = "") -> None:
        self.folded: Final = fold_text(part)
        self._mark: Final = mark
        self._scope: Final = scope
        of_mark = grams.of_search(scope, mark) if mark else set()
        self._grams: Final = grams.of_search(scope, self.folded) | of_mark
        self.has_grams: Final = bool(self._grams)

    def parameters(self, index: TextIndex) -> dict[str, object]:
        """Return the parameters of the statements of an index."""
        scope = {index.scope_name: self._scope} if index.scope_name else {}
        return {
            **scope,
            "wanted": self.folded,
            "mark": self._mark,
            "fts_query": as_fts_query(self._grams),
            "grams": as_array(self._grams),
            "block": BLOCK,
        }


def _position(dialect: str, folded: ColumnElement[str], part: str) -> ColumnElement[int]:
    """Return the position of a parameter in a text; an empty parameter is at 1."""
    position = func.instr if dialect == "sqlite" else func.strpos
    offset: ColumnElement[int] = position(folded, bindparam(part, type_=Text))
    return offset
