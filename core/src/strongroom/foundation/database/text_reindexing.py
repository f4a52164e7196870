"""Compares an index of texts with the rows that it is derived from, and corrects it.

Servers can use the index meanwhile.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, literal_column, select, text

from strongroom.foundation.database import text_index
from strongroom.foundation.database.engine import Database
from strongroom.foundation.database.grams import as_array
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Row, TextIndex

BATCH: Final = 500
"""Number of rows of a transaction."""

Progress = Callable[[int], object]
"""Called with the number of processed rows."""

NextRows = Callable[[Connection, str], Sequence[Row]]
"""Returns the next :data:`BATCH` rows that the index should have, after a key.

They are locked, so that none changes between the reading and the writing of its text.
"""


class TextReindexing:
    """Corrects one index.

    Each batch is a short transaction, so servers can write in between. Searches work meanwhile.
    """

    def __init__(self, database: Database, index: TextIndex, next_rows: NextRows) -> None:
        self._database = database
        self._index = index
        self._next_rows = next_rows
        self._indexed = Statement(self._indexed_rows, tuple)
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

    def run(self, progress: Progress = lambda _: None) -> int:
        """Correct the index, and return the number of texts that were missing or wrong in it.

        On SQLite the grams of deleted rows and of earlier texts are removed, too.
        """
        repaired, after = 0, ""
        while True:
            # Non-durable: after a power failure, the command finds the lost texts again.
            with self._database.write(durable=False) as connection:
                batch = self._next_rows(connection, after)
                repaired += self._repair(connection, batch)
            progress(len(batch))
            if len(batch) < BATCH:
                break
            after = self._key(batch[-1])
        if self._database.engine.dialect.name == "sqlite":
            self._rebuild()
        return repaired

    def _repair(self, connection: Connection, batch: Sequence[Row]) -> int:
        keys = [self._key(row) for row in batch]
        rows = self._indexed.all(connection, {"keys": keys}) if keys else []
        indexed = {row[0]: row for row in rows}
        wrong = [row for row in batch if not self._is_right(row, indexed.get(self._key(row)))]
        self._index.put_all(connection, wrong)
        return len(wrong)

    def _is_right(self, row: Row, indexed: Sequence[Any] | None) -> bool:
        if indexed is None or indexed[1:-1] != tuple(row[name] for name in self._index.columns):
            return False
        return indexed[-1] is None or indexed[-1] == as_array(self._index.get_grams(row))

    def _key(self, row: Row) -> str:
        return str(row[self._index.key.name])

    def _indexed_rows(self, dialect: str) -> Any:
        grams: ColumnElement[Any] = literal_column("NULL" if dialect == "sqlite" else "grams")
        columns = [self._index.rows.c[name] for name in self._index.columns]
        key = self._index.key
        rows = select(key.label("of_key"), *columns, grams.label("grams"))
        return rows.where(key.in_(bindparam("keys", expanding=True)))

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
