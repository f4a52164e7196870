"""Lists the files and folders that a user can see."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from sqlalchemy import Connection, Row, Select, func, literal, select

from strongroom.database import Database
from strongroom.errors import Forbidden, NotAFolder
from strongroom.files.access import AccessControl, NodeView
from strongroom.files.child_counts import children_of, run_at, runs
from strongroom.files.models import Node, NodeType, Permission, grants, nodes
from strongroom.identity import Identity
from strongroom.paging import Page, Paging, seek_page
from strongroom.tenants.models import Role
from strongroom.users.service import UserService

Summaries = list[dict[str, str]]


class FileListing:
    """Lists the nodes of a tenant that a user, the owner of the list, can see."""

    def __init__(self, database: Database, access: AccessControl, users: UserService) -> None:
        self._database = database
        self._access = access
        self._users = users

    def top_level(
        self, identity: Identity, tenant_id: str, owner_id: str, paging: Paging
    ) -> tuple[Page[NodeView], Summaries]:
        """Return the owner's top-level nodes: visible nodes whose parent is not visible. Sorted by name.

        Raises:
            Forbidden: the caller is neither the owner nor an administrator of the tenant.
        """
        with self._database.read() as connection:
            role = self._owner_role(connection, identity, tenant_id, owner_id)
            # For administrators the top level is the content of the root node.
            if role is Role.ADMIN:
                page = self._children(connection, tenant_id, owner_id, Permission.MANAGE, paging)
            elif role is None:
                page = Page([], 0, paging)
            else:
                page = self._granted(connection, tenant_id, owner_id, paging)
            return page, self._summaries(connection, page)

    def inside(
        self, identity: Identity, tenant_id: str, owner_id: str, parent_id: str, paging: Paging
    ) -> tuple[Page[NodeView], Summaries]:
        """Return the nodes in a folder that the owner can see, sorted by name.

        Raises:
            Forbidden: the caller is neither the owner nor an administrator of the tenant, or cannot
                see the folder.
            NotFound: the tenant has no such folder.
            NotAFolder: the node is a file.
        """
        with self._database.read() as connection:
            role = self._owner_role(connection, identity, tenant_id, owner_id)
            parent = self._access.node(connection, tenant_id, parent_id)
            permission = self._access.permission(connection, parent_id, owner_id, role)
            # An administrator who lists another user's folder gets an empty page instead of an error.
            if permission < Permission.READ and owner_id == identity.user_id:
                raise Forbidden
            if parent.type != NodeType.FOLDER:
                raise NotAFolder
            if permission >= Permission.READ:
                page = self._children(connection, parent_id, owner_id, permission, paging)
            else:
                page = Page([], 0, paging)
            return page, self._summaries(connection, page)

    def _owner_role(
        self, connection: Connection, identity: Identity, tenant_id: str, owner_id: str
    ) -> Role | None:
        role = self._access.memberships.require_member(connection, tenant_id, identity)
        if owner_id == identity.user_id:
            return role
        if role is not Role.ADMIN:
            raise Forbidden
        # The list shows what its owner can see, so the owner's role counts, not the caller's.
        return self._access.memberships.role(connection, tenant_id, owner_id)

    def _children(
        self, connection: Connection, parent_id: str, user_id: str, inherited: Permission, paging: Paging
    ) -> Page[NodeView]:
        own = func.coalesce(grants.c.permission, literal(0))
        query = (
            select(*nodes.c, own)
            .outerjoin(
                grants,
                (grants.c.node_id == nodes.c.id)
                & (grants.c.user_id == user_id)
                & self._access.is_in_force(),
            )
            .where(nodes.c.parent_id == parent_id)
        )
        positions = select(nodes.c.name).where(nodes.c.parent_id == parent_id)
        count = select(children_of(parent_id))

        def position(offset: int) -> Select[Any]:
            # Start at the run that contains the offset: a plain OFFSET would scan all rows before it.
            first_name, passed = run_at(connection.execute(runs(), {"node_id": parent_id}), offset)
            return (
                positions.where(nodes.c.name >= first_name)
                .order_by(nodes.c.name)
                .offset(passed)
                .limit(1)
            )

        make = partial(_view, inherited=inherited)
        return seek_page(connection, query, positions, paging, make, count, position)

    def _granted(
        self, connection: Connection, tenant_id: str, user_id: str, paging: Paging
    ) -> Page[NodeView]:
        mine = (
            (grants.c.user_id == user_id) & (grants.c.tenant_id == tenant_id) & self._access.is_at_top()
        )
        query = (
            select(*nodes.c, grants.c.permission)
            .join(grants, grants.c.node_id == nodes.c.id)
            .where(mine)
        )
        positions = select(grants.c.node_name, grants.c.node_id).where(mine)
        make = partial(_view, inherited=Permission.NONE)
        return seek_page(connection, query, positions, paging, make)

    def _summaries(self, connection: Connection, page: Page[NodeView]) -> Summaries:
        return self._users.summaries(connection, {view.node.owner_id for view in page.items})


def _view(row: Row[Any], inherited: Permission) -> NodeView:
    columns: Sequence[Any] = row[:-1]
    return NodeView(Node(*columns), max(inherited, Permission(row[-1])))
