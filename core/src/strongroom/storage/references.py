"""Who refers to blobs: whatever table has a foreign key to them, whichever feature it belongs to."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, and_, exists, select, true

from strongroom.database.metadata import metadata
from strongroom.storage.models import blobs


def referring_columns() -> list[Column[Any]]:
    """Return the columns that hold keys of blobs.

    A feature makes itself known here by its foreign key alone, once its models are imported.
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
    """Return the rows that refer to a blob, each as its table and its primary key."""
    return [place for column in referring_columns() for place in _places(connection, column, key)]


def _places(connection: Connection, column: Column[Any], key: str) -> Iterator[str]:
    query = select(*column.table.primary_key.columns).where(column == key)
    for row in connection.execute(query):
        yield " ".join([column.table.name, *map(str, row)])
