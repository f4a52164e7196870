"""References to blobs: every table with a foreign key to them, in any feature."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, and_, exists, select, true

from strongroom.database.metadata import metadata
from strongroom.storage.models import blobs


def referring_columns() -> list[Column[Any]]:
    """Return the columns with a foreign key to blobs.

    A feature needs no registration: its foreign key is found once its models are imported.
    """
    return [
        column
        for table in metadata.sorted_tables
        for column in table.columns
        if column.references(blobs.c.key)
    ]


def nobody_refers() -> ColumnElement[bool]:
    """Return the condition that nothing refers to a row of :data:`blobs`."""
    return and_(true(), *(~exists().where(column == blobs.c.key) for column in referring_columns()))


def referrers(connection: Connection, key: str) -> Sequence[str]:
    """Return the rows that refer to a blob, each as its table name and primary key."""
    return [place for column in referring_columns() for place in _places(connection, column, key)]


def _places(connection: Connection, column: Column[Any], key: str) -> Iterator[str]:
    query = select(*column.table.primary_key.columns).where(column == key)
    for row in connection.execute(query):
        yield " ".join([column.table.name, *map(str, row)])
