"""How many nodes lie in each folder: kept by whoever changes the tree, in the same transaction."""

from sqlalchemy import ColumnElement, Connection, func, select, update

from strongroom.database.upsert import insert
from strongroom.files.models import folder_counts


def children_of(folder_id: str | ColumnElement[str]) -> ColumnElement[int]:
    """Return the number of nodes in a folder, for a query."""
    kept = select(folder_counts.c.children).where(folder_counts.c.folder_id == folder_id)
    return func.coalesce(kept.scalar_subquery(), 0)


def added(connection: Connection, folder_id: str) -> None:
    """Count one node more in a folder."""
    row = insert(connection, folder_counts).values(folder_id=folder_id, children=1)
    more = {"children": folder_counts.c.children + 1}
    connection.execute(row.on_conflict_do_update(index_elements=["folder_id"], set_=more))


def taken_out(connection: Connection, folder_id: str) -> None:
    """Count one node less in a folder."""
    ours = folder_counts.c.folder_id == folder_id
    connection.execute(update(folder_counts).where(ours).values(children=folder_counts.c.children - 1))
