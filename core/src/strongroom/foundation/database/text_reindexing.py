"""Compares an index of texts with the rows that it is derived from, and corrects it.

Servers can use the index meanwhile.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Connection, bindparam, literal_column, select, text

from strongroom.foundation.database import text_index
from strongroom.foundation.database.engine import Database
from strongroom.foundation.database.grams import as_array
from strongroom.foundation.database.key_ranges import KeyRange, RangeBatch
from strongroom.foundation.database.range_work import Keep, OnRows, count_rows, run_at_once, split_keys
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Row, TextIndex

BATCH: Final = 500
"""Number of rows of a transaction."""


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """Some rows that an index should have.

    Args:
        keys: the keys of the page, ascending; the last page has fewer than :data:`BATCH`.
        rows: the rows from the first to the last key.
        wrong: the keys of rows whose other derived values are wrong.
    """

    keys: Sequence[str]
    rows: Sequence[Row]
    wrong: Collection[str]


@dataclass(frozen=True, slots=True)
class IndexedRows:
    """The rows that an index should have.

    Args:
        key: the primary key of the table of the rows.
        next_page: returns the next rows of a range.
        lock: locks the rows with some keys, corrects their other values, and returns those that still
            exist. So none changes between the reading and the writing of its text.
    """

    key: Column[Any]
    next_page: Callable[[Connection, KeyRange], IndexedPage]
    lock: Callable[[Connection, Sequence[str]], Sequence[Row]]


class TextReindexing:
    """Corrects one index: a task on the rows that it should have.

    A batch is read without locks. Only its wrong rows are locked, read again and corrected, in a short
    transaction, so servers write in between. Searches work meanwhile.

    Args:
        name: the name of the task.
    """

    def __init__(self, name: str, database: Database, index: TextIndex, rows: IndexedRows) -> None:
        self.name: Final = name
        self._database = database
        self._index = index
        self._rows = rows
        self._indexed = Statement(self._indexed_rows(), tuple)
        self._between = Statement(self._indexed_between(), tuple)
        self._next_indexed = Statement(index.indexed(BATCH), tuple)
        new = f"{index.postings}_new"
        self._drop_new = Statement(text(f"DROP TABLE IF EXISTS {new}"))
        self._create_new = Statement(
            text(
                f"CREATE VIRTUAL TABLE {new} USING fts5 "
                "(grams, content='', detail=none, columnsize=0, tokenize='ascii')"
            )
        )
        fill = f"INSERT INTO {new} (rowid, grams) VALUES (:number, :grams)"  # noqa: S608  names of the code
        self._fill_new = Statement(text(fill))
        self._drop_old = Statement(text(f"DROP TABLE {index.postings}"))
        self._rename_new = Statement(text(f"ALTER TABLE {new} RENAME TO {index.postings}"))

    def run(self, on_rows: OnRows = lambda _: None) -> int:
        """Correct the index, and return the number of texts that were missing or wrong in it."""
        repaired = run_at_once(self._database, self, on_rows)
        self._rebuild_postings()
        return repaired

    def count(self, connection: Connection) -> int:
        """Return the approximate number of rows."""
        return count_rows(connection, self._rows.key)

    def split(self, connection: Connection) -> Sequence[str]:
        """Return the keys that separate the ranges."""
        return split_keys(connection, self._rows.key, 4 * BATCH)

    def read(self, key_range: KeyRange, _keep: Keep) -> RangeBatch:
        """Compare the next rows with the index."""
        with self._database.read() as connection:
            page = self._rows.next_page(connection, key_range)
            wrong = sorted({*page.wrong, *self._find_wrong(connection, page)})
        count = len(page.keys)
        is_last = count < BATCH
        reached = None if is_last else page.keys[-1]
        return RangeBatch(reached, count, is_last, lambda connection: self._correct(connection, wrong))

    def finish(self, _ranges: Sequence[KeyRange]) -> None:
        """Remove the grams of deleted rows and of earlier texts on SQLite."""
        self._rebuild_postings()

    def _rebuild_postings(self) -> None:
        if self._database.engine.dialect.name == "sqlite":
            self._rebuild()

    def _find_wrong(self, connection: Connection, page: IndexedPage) -> list[str]:
        if not page.keys:
            return []
        bounds = {"from_key": page.keys[0], "to_key": page.keys[-1]}
        wrong = self._compare(page.rows, self._between.all(connection, bounds))
        return [self._key(row) for row in wrong]

    def _correct(self, connection: Connection, keys: Sequence[str]) -> int:
        if not keys:
            return 0
        rows = self._rows.lock(connection, keys)
        wrong = self._compare(rows, self._indexed.all(connection, {"keys": keys}))
        self._index.put_all(connection, wrong)
        return len(wrong)

    def _compare(self, rows: Sequence[Row], indexed: Sequence[Sequence[Any]]) -> list[Row]:
        by_key = {row[0]: row for row in indexed}
        return [row for row in rows if not self._is_right(row, by_key.get(self._key(row)))]

    def _is_right(self, row: Row, indexed: Sequence[Any] | None) -> bool:
        if indexed is None or indexed[1:-1] != tuple(row[name] for name in self._index.columns):
            return False
        return indexed[-1] is None or indexed[-1] == as_array(self._index.get_grams(row))

    def _key(self, row: Row) -> str:
        return str(row[self._index.key.name])

    def _indexed_rows(self) -> Callable[[str], Any]:
        keys = self._index.key.in_(bindparam("keys", expanding=True))
        return lambda dialect: self._select_indexed(dialect).where(keys)

    def _indexed_between(self) -> Callable[[str], Any]:
        key = self._index.key
        return lambda dialect: self._select_indexed(dialect).where(
            key >= bindparam("from_key"), key <= bindparam("to_key")
        )

    def _select_indexed(self, dialect: str) -> Any:
        grams: ColumnElement[Any] = literal_column("NULL" if dialect == "sqlite" else "grams")
        columns = [self._index.rows.c[name] for name in self._index.columns]
        return select(self._index.key.label("of_key"), *columns, grams.label("grams"))

    def _rebuild(self) -> None:
        """Build the index of SQLite in another table, which then takes the place of the first one."""
        with self._database.write(durable=False) as connection:
            # An interrupted run has left it.
            self._drop_new.execute(connection)
            self._create_new.execute(connection)
        after, is_whole = 0, False
        while not is_whole:
            # New rows, and new texts, have higher numbers, so none is left out. The last batch and the
            # exchange are one transaction.
            with self._database.write(durable=False) as connection:
                batch = self._next_indexed.all(connection, {"after": after, "block": text_index.BLOCK})
                if batch:
                    self._fill_new.execute(connection, [self._index.posting(*row) for row in batch])
                    after = batch[-1][0]
                is_whole = len(batch) < BATCH
                if is_whole:
                    self._drop_old.execute(connection)
                    self._rename_new.execute(connection)
