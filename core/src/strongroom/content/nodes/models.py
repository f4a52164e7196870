"""Tables of nodes (files and folders), child counts and grants, and the path from a node to its root."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple

from sqlalchemy import (
    CTE,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    bindparam,
    literal,
    select,
)

from strongroom.foundation.cache import BuiltOnce
from strongroom.foundation.database.metadata import WHERE, Id, Name, SortKeyText, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper, get_columns


class NodeType(StrEnum):
    """Type of a node."""

    FILE = "file"
    FOLDER = "folder"


class Permission(IntEnum):
    """Permission on a node and its subtree; each level includes the lower ones."""

    NONE = 0
    READ = 1
    WRITE = 2
    MANAGE = 3


FOREVER: Final = 2**63 - 1
"""Later than any timestamp. Stored as NULL."""


class Node(NamedTuple):
    """A row of :data:`nodes`. ``checksum`` is SHA-256 in hexadecimal digits; ``size`` is in bytes.

    ``scan`` is the :class:`~strongroom.content.scanning.states.ScanState` of the content, if it has one.
    ``trash_id`` is the trash entry that the node belongs to, ``None`` for a live node. ``versions`` is
    how many earlier contents were kept ever, ``None`` for zero. ``sort_key`` is what lists sort
    the name by, see :mod:`strongroom.foundation.collation`; it is empty if a server of the version
    before named the node.
    """

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
    scan: str | None = None
    trash_id: str | None = None
    versions: int | None = None
    sort_key: str = ""

    @property
    def is_root(self) -> bool:
        """Whether it is the root of its tenant."""
        return self.id == self.tenant_id


class NodeVersion(NamedTuple):
    """The columns of a node that identify its JSON representation and the tag of its content."""

    id: str
    tenant_id: str
    revision: int
    checksum: str | None

    @property
    def is_root(self) -> bool:
        """Whether it is the root of its tenant."""
        return self.id == self.tenant_id


@dataclass(frozen=True, slots=True)
class Grant:
    """A user's grant on a node. ``expires_at`` is ``None`` for a permanent grant."""

    node_id: str
    user_id: str
    permission: Permission
    expires_at: int | None
    granted_by: str | None
    created_at: int


@dataclass(frozen=True, slots=True)
class GroupGrant:
    """A group's grant on a node. ``expires_at`` is ``None`` for a permanent grant."""

    node_id: str
    group_id: str
    group_name: str
    permission: Permission
    expires_at: int | None
    granted_by: str | None
    created_at: int


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
    Column("scan", String(16)),
    Column("trash_id", Id),
    Column("versions", Integer),
    Column("sort_key", SortKeyText, nullable=False, server_default=""),
    UniqueConstraint("parent_id", "name"),
    Index(None, "tenant_id"),
    # Foreign keys are indexed, because deleting the referenced row searches for them.
    Index(None, "owner_id"),
    Index(None, "blob_key"),
    Index(None, "trash_id", info={WHERE: "trash_id IS NOT NULL"}),
    # A list of a folder, or of its folders or files, starts anywhere in one of these; see order_counts.
    Index(None, "parent_id", "sort_key"),
    Index(None, "parent_id", "size", "sort_key"),
    Index(None, "parent_id", "updated_at", "sort_key"),
    Index(None, "parent_id", "type", "sort_key"),
    Index(None, "parent_id", "type", "size", "sort_key"),
    Index(None, "parent_id", "type", "updated_at", "sort_key"),
    # Finds all folders below some others without reading their files.
    Index("ix_nodes_folders", "parent_id", "id", info={WHERE: "type = 'folder'"}),
)
"""Each tenant has a root node, whose id is the tenant's id and whose parent is NULL. The API never
returns it; nodes directly below it have ``parentId`` null.

Every node of a trashed subtree has the id of its trash entry in ``trash_id``, and the topmost one is
detached: its parent is NULL. So its name is free at once, and queries that descend from a live folder
never meet a trashed node. Queries that find nodes in another way must require a NULL ``trash_id``."""

NODE: Final = RowMapper(Node, nodes)
NODE_VERSION: Final = RowMapper(NodeVersion, get_columns(NodeVersion, nodes))

folder_counts: Final = Table(
    "folder_counts",
    metadata,
    Column("folder_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("first_name", Name, primary_key=True),
    Column("children", BigInteger, nullable=False),
)
"""Child counts of folders by runs of names: each row counts the nodes from its ``first_name``, which is
empty in the first run, up to the next row's. Lists return their total and start at any offset, and
counting a million rows would take a hundred times as long as reading the page."""

folder_runs: Final = Table(
    "folder_runs",
    metadata,
    Column("folder_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("list", String(16), primary_key=True),
    Column("first_value", BigInteger, primary_key=True),
    Column("first_key", SortKeyText, primary_key=True),
    Column("children", BigInteger, nullable=False),
)
"""Child counts of large folders by runs of the lists that clients get, such as ``file/size``; see
:mod:`strongroom.content.nodes.order_counts`. A run begins at a value and, among equal ones, at a sort
key."""

Table(
    "folder_order_counts",
    metadata,
    Column("folder_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("sort", String(16), primary_key=True),
    Column("first_value", BigInteger, primary_key=True),
    Column("first_name", Name, primary_key=True),
    Column("children", BigInteger, nullable=False),
)
"""What servers of the version before 0049 have instead; a later migration drops it."""

node_versions: Final = Table(
    "node_versions",
    metadata,
    Column("node_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("tenant_id", Id, nullable=False),
    Column("blob_key", String(64), ForeignKey("blobs.key"), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("content_type", String(255), nullable=False),
    Column("checksum", String(64), nullable=False),
    Column("scan", String(16)),
    Column("modified_at", Timestamp, nullable=False),
    Column("archived_at", Timestamp, nullable=False),
    Column("archived_by", Id, nullable=False),
    Column("label", Name),
    Column("is_kept", Boolean, nullable=False),
    Index(None, "blob_key"),
    # A tenant's total is read from the index alone.
    Index(None, "tenant_id", "size"),
)
"""Earlier contents of files. ``number`` counts the contents of a file from 1 and is never used again;
``modified_at`` is when the file was last changed before, and ``archived_at`` when it got other content.
The current content is in the row of the node. Several rows may share a blob."""

trash: Final = Table(
    "trash",
    metadata,
    Column("id", Id, primary_key=True),
    Column("node_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), nullable=False, unique=True),
    Column("tenant_id", Id, nullable=False),
    Column("parent_id", Id, nullable=False),
    Column("trashed_by", Id, nullable=False),
    Column("trashed_at", Timestamp, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("purging_at", Timestamp),
    Index(None, "tenant_id", "trashed_at", "id"),
    Index(None, "trashed_at"),
    Index(None, "purging_at"),
)
"""Trashed subtrees. ``node_id`` is the topmost node, ``parent_id`` the folder that it was in, which may
be deleted since; ``size`` is the total size of the files in bytes. ``purging_at`` is when its removal
began: from then on it is in no list and cannot be restored."""


def _of_top_level(name: str, *values: str) -> Index:
    """Return an index of a user's top-level nodes in the order of a list, then by name.

    It includes the columns of the filter.
    """
    columns = ("user_id", "tenant_id", *values, "node_sort_key", "node_id")
    where = {WHERE: "parent_visible_until IS NOT NULL"}
    return Index(name, *columns, "parent_visible_until", "expires_at", info=where)


grants: Final = Table(
    "grants",
    metadata,
    Column("node_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("user_id", Id, primary_key=True),
    Column("tenant_id", Id, nullable=False),
    Column("permission", SmallInteger, nullable=False),
    Column("expires_at", Timestamp),
    Column("granted_by", Id),
    Column("created_at", Timestamp, nullable=False),
    Column("node_name", Name, nullable=False),
    Column("parent_visible_until", Timestamp),
    Column("node_type", String(8), nullable=False, server_default=NodeType.FILE.value),
    Column("node_size", BigInteger, nullable=False, server_default="0"),
    Column("node_updated_at", Timestamp, nullable=False, server_default="0"),
    Column("node_sort_key", SortKeyText, nullable=False, server_default=""),
    ForeignKeyConstraint(
        ["tenant_id", "user_id"],
        ["tenant_members.tenant_id", "tenant_members.user_id"],
        ondelete="CASCADE",
    ),
    Index(None, "user_id", "tenant_id", "parent_visible_until"),
    _of_top_level("ix_grants_listed"),
    _of_top_level("ix_grants_listed_size", "node_size"),
    _of_top_level("ix_grants_listed_updated_at", "node_updated_at"),
    _of_top_level("ix_grants_listed_type", "node_type"),
    _of_top_level("ix_grants_listed_type_size", "node_type", "node_size"),
    _of_top_level("ix_grants_listed_type_updated_at", "node_type", "node_updated_at"),
)
"""Only members have grants: deleting a membership deletes its grants in the same statement.

A page of a user's top-level nodes must be one range of one index. So a grant repeats the values of the
node that lists are sorted by, see :mod:`strongroom.content.nodes.grant_copies`, and
``parent_visible_until`` is when the grants of the user, and of the user's groups, on the node's
ancestors expire: 0 if there are none, NULL if one of them is permanent, or while the node is in the
trash. The partial index omits the NULL rows; most of them are the grants to the nodes' creators."""

group_grants: Final = Table(
    "group_grants",
    metadata,
    Column("node_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("group_id", Id, ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True),
    Column("permission", SmallInteger, nullable=False),
    Column("expires_at", Timestamp),
    Column("granted_by", Id),
    Column("created_at", Timestamp, nullable=False),
    Index(None, "group_id"),
)
"""Grants to groups. A node and a group are of the same tenant. Nothing is stored per member: members
are joined when a permission is read, so a removed member has none of them in the same transaction."""


def folders_around(parameter: str = "node_id") -> CTE:
    """Return the CTE with the ids of the node that a parameter names, and of all its ancestors.

    The node is at height 0, its parent folder at height 1, and so on. Always the same object, so that
    several expressions of one statement share it.
    """
    return _folders_around(parameter)


@BuiltOnce
def _folders_around(parameter: str) -> CTE:
    start = select(nodes.c.id, nodes.c.parent_id, literal(0).label("height"))
    name = "path" if parameter == "node_id" else f"path_of_{parameter}"
    path = start.where(nodes.c.id == bindparam(parameter)).cte(name, recursive=True)
    above = nodes.alias()
    step = select(above.c.id, above.c.parent_id, path.c.height + 1)
    return path.union_all(step.join(path, above.c.id == path.c.parent_id))


def subtree(top: ColumnElement[bool] | None = None) -> CTE:
    """Return a CTE with the ids of the selected nodes, and of all nodes below them.

    Args:
        top: selects nodes, none of them below another; by default, the node ``node_id``.
    """
    of_node = nodes.c.id == bindparam("node_id")
    below = select(nodes.c.id).where(of_node if top is None else top).cte(recursive=True)
    child = nodes.alias()
    return below.union_all(select(child.c.id).join(below, child.c.parent_id == below.c.id))
