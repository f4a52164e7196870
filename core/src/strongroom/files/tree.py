"""Changes the tree, within the caller's transaction and after the caller's permission is known."""

from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from strongroom.clock import Clock, next_revision
from strongroom.database.upsert import insert as upsert
from strongroom.errors import NameConflict, NotFound, RevisionConflict
from strongroom.files.models import Node, NodeType, Permission, grants, nodes
from strongroom.files.names import numbered
from strongroom.ids import new_id

_MAX_NUMBER = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node is put.

    Args:
        tenant_id: the tenant.
        parent_id: the folder, which is the tenant's root for a node without one.
        visible_by_grant: whether the node's creator sees that folder by a grant.
    """

    tenant_id: str
    parent_id: str
    visible_by_grant: bool


@dataclass(frozen=True, slots=True)
class FileContent:
    """The content of a file: where its bytes are, and what is known of them."""

    blob_key: str
    size: int
    content_type: str
    checksum: str


@dataclass(frozen=True, slots=True)
class RemovedSubtree:
    """What a deletion has removed. ``size`` is in bytes."""

    blob_keys: tuple[str, ...]
    size: int


class Tree:
    """The nodes of all tenants."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def ensure_root(self, connection: Connection, tenant_id: str, user_id: str) -> None:
        """Make the tenant's root, unless it is there."""
        now = self._clock.now()
        root = Node(
            tenant_id, tenant_id, None, NodeType.FOLDER, "", None, 0, None, None, user_id, now, now, now
        )
        statement = upsert(connection, nodes).values(asdict(root)).on_conflict_do_nothing()
        connection.execute(statement)

    def find_child(self, connection: Connection, parent_id: str, name: str) -> Node | None:
        """Return the node of a name in a folder."""
        query = select(nodes).where(nodes.c.parent_id == parent_id, nodes.c.name == name)
        row = connection.execute(query).first()
        return Node(*row) if row else None

    def add(
        self, connection: Connection, place: Place, name: str, owner_id: str, content: FileContent | None
    ) -> Node:
        """Put a new file, or without content a new folder, into a folder; its creator manages it.

        Raises:
            NameConflict: the folder holds something of that name.
            NotFound: the folder was deleted meanwhile.
        """
        now = self._clock.now()
        node = Node(
            id=new_id(),
            tenant_id=place.tenant_id,
            parent_id=place.parent_id,
            type=NodeType.FILE if content else NodeType.FOLDER,
            name=name,
            blob_key=content.blob_key if content else None,
            size=content.size if content else 0,
            content_type=content.content_type if content else None,
            checksum=content.checksum if content else None,
            owner_id=owner_id,
            created_at=now,
            updated_at=now,
            revision=now,
        )
        self._insert(connection, node)
        self._grant_to_creator(connection, node, place)
        return node

    def add_numbered(
        self, connection: Connection, place: Place, name: str, owner_id: str, content: FileContent | None
    ) -> Node:
        """Do as :meth:`add`, under the first of "name", "name (1)", "name (2)"... that is free."""
        for number in range(_MAX_NUMBER):
            candidate = numbered(name, number) if number else name
            if self.find_child(connection, place.parent_id, candidate) is None:
                try:
                    return self.add(connection, place, candidate, owner_id, content)
                except NameConflict:
                    continue
        raise NameConflict

    def replace_content(self, connection: Connection, node: Node, content: FileContent) -> Node:
        """Give a file other content.

        Raises:
            RevisionConflict: the file has changed since it was read.
        """
        now = self._clock.now()
        changed = replace(
            node,
            blob_key=content.blob_key,
            size=content.size,
            content_type=content.content_type,
            checksum=content.checksum,
            updated_at=now,
            revision=next_revision(node.revision, now),
        )
        statement = (
            update(nodes)
            .where(nodes.c.id == node.id, nodes.c.revision == node.revision)
            .values(asdict(changed))
        )
        if connection.execute(statement).rowcount != 1:
            raise RevisionConflict
        return changed

    def remove(self, connection: Connection, node: Node) -> RemovedSubtree:
        """Remove a node and all below it; grants on them go too.

        Raises:
            RevisionConflict: something was put into the subtree meanwhile.
        """
        below = select(nodes.c.id).where(nodes.c.id == node.id).cte(recursive=True)
        child = nodes.alias()
        below = below.union_all(select(child.c.id).join(below, child.c.parent_id == below.c.id))
        within = nodes.c.id.in_(select(below.c.id))
        keys = connection.execute(select(nodes.c.blob_key).where(within, nodes.c.blob_key.is_not(None)))
        blob_keys = tuple(keys.scalars())
        size = connection.execute(select(func.sum(nodes.c.size)).where(within)).scalar_one()
        try:
            with connection.begin_nested():
                connection.execute(delete(nodes).where(within))
        except IntegrityError as error:
            raise RevisionConflict from error
        return RemovedSubtree(blob_keys, int(size))

    def _insert(self, connection: Connection, node: Node) -> None:
        try:
            with connection.begin_nested():
                connection.execute(insert(nodes).values(asdict(node)))
        except IntegrityError as error:
            if self.find_child(connection, node.parent_id or "", node.name):
                raise NameConflict.of_field("name", "taken", NameConflict.message) from error
            raise NotFound from error

    def _grant_to_creator(self, connection: Connection, node: Node, place: Place) -> None:
        row = {
            "node_id": node.id,
            "user_id": node.owner_id,
            "tenant_id": node.tenant_id,
            "permission": int(Permission.MANAGE),
            "granted_by": node.owner_id,
            "created_at": node.created_at,
            "node_name": node.name,
            "parent_visible": place.visible_by_grant,
        }
        connection.execute(insert(grants).values(row))
