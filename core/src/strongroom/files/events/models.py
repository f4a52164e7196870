"""Table of file events; rows are deleted after the retention period and with their tenant."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import BigInteger, Column, Index, String, Table

from strongroom.database.metadata import Id, Name, Timestamp, metadata


class FileAction(StrEnum):
    """Action of a file event."""

    FOLDER_CREATED = "folder.created"
    CREATED = "file.created"
    REPLACED = "file.replaced"
    RENAMED = "file.renamed"
    MOVED = "file.moved"
    DELETED = "file.deleted"
    DOWNLOADED = "file.downloaded"


@dataclass(frozen=True, slots=True)
class FileEvent:
    """A row of :data:`file_events`. ``name``, ``parent_id`` and ``size`` are those after the action."""

    id: str
    at: int
    tenant_id: str
    node_id: str
    action: str
    actor_id: str
    address: str | None
    name: str
    parent_id: str | None
    size: int


file_events: Final = Table(
    "file_events",
    metadata,
    Column("id", Id, primary_key=True),
    Column("at", Timestamp, nullable=False),
    Column("tenant_id", Id, nullable=False),
    Column("node_id", Id, nullable=False),
    Column("action", String(32), nullable=False),
    Column("actor_id", Id, nullable=False),
    Column("address", String(64)),
    Column("name", Name, nullable=False),
    Column("parent_id", Id),
    Column("size", BigInteger, nullable=False),
    # One index per filter, each ending with the sort order of lists.
    Index(None, "tenant_id", "at", "id"),
    Index(None, "tenant_id", "node_id", "at", "id"),
    Index(None, "tenant_id", "actor_id", "at", "id"),
    Index(None, "at"),
)
"""No foreign keys: an event outlives the node and the user."""
