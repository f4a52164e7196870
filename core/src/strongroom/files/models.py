"""Nodes, which are files and folders, and the grants on them."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
)

from strongroom.database.metadata import Id, Name, Timestamp, metadata


class NodeType(StrEnum):
    """What a node is."""

    FILE = "file"
    FOLDER = "folder"


class Permission(IntEnum):
    """What a user may do with a node and all below it; each level includes those before."""

    NONE = 0
    READ = 1
    WRITE = 2
    MANAGE = 3


@dataclass(frozen=True, slots=True)
class Node:
    """A row of :data:`nodes`. ``checksum`` is SHA-256 in hexadecimal digits; ``size`` is in bytes."""

    id: str
    tenant_id: str
    parent_id: str | None
    type: str
    name: str
    blob_key: str | None
    size: int
    content_type: str | None
    checksum: str | None
    owner_id: str
    created_at: int
    updated_at: int
    revision: int


nodes: Final = Table(
    "nodes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("parent_id", Id, ForeignKey("nodes.id")),
    Column("type", String(8), nullable=False),
    Column("name", Name, nullable=False),
    Column("blob_key", String(64), ForeignKey("blobs.key")),
    Column("size", BigInteger, nullable=False),
    Column("content_type", String(255)),
    Column("checksum", String(64)),
    Column("owner_id", Id, ForeignKey("users.id"), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp, nullable=False),
    Column("revision", Timestamp, nullable=False),
    UniqueConstraint("parent_id", "name"),
    Index(None, "tenant_id"),
    Index(None, "owner_id"),
    Index(None, "blob_key"),
)
"""Each tenant has a root node, whose id is the tenant's and whose parent is null; it is never shown,
and what lies in it has no folder as far as clients are told."""

grants: Final = Table(
    "grants",
    metadata,
    Column("node_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("permission", SmallInteger, nullable=False),
    Column("expires_at", Timestamp),
    Column("granted_by", Id),
    Column("created_at", Timestamp, nullable=False),
    Column("node_name", Name, nullable=False),
    Column("parent_visible", Boolean, nullable=False),
    Index("ix_grants_top_level", "user_id", "tenant_id", "parent_visible", "node_name", "node_id"),
)
"""``node_name`` is the node's name again, and ``parent_visible`` tells that the user sees the folder
around the node too, so that a page of a user's top level is one range of one index."""
