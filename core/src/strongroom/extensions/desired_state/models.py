"""The table of the resources that files have declared."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Column, Index, String, Table, Text

from strongroom.foundation.database.metadata import metadata
from strongroom.foundation.database.rows import RowMapper


@dataclass(frozen=True, slots=True)
class DeclaredRow:
    """A row of :data:`declared_resources`.

    Args:
        set_name: the file, by the name that it gives itself.
        place: the kind, such as ``tenants.groups``.
        parent_id: the resource that it is below; empty: none.
        key: what identifies it in the file, below its parent.
        declared: the digest of its members in the file when it was applied last.
        current: the digest of the same members in the answer of the server after that.
    """

    set_name: str
    place: str
    parent_id: str
    resource_id: str
    key: str
    declared: str
    current: str


declared_resources: Final = Table(
    "declared_resources",
    metadata,
    Column("set_name", String(64), primary_key=True),
    Column("place", String(128), primary_key=True),
    Column("parent_id", String(64), primary_key=True),
    Column("resource_id", String(64), primary_key=True),
    Column("key", Text, nullable=False),
    Column("declared", String(64), nullable=False),
    Column("current", String(64), nullable=False),
    Index(None, "resource_id"),
    Index(None, "parent_id"),
)

DECLARED_ROW: Final = RowMapper(DeclaredRow, declared_resources)
