"""Lists the files and folders that a user can see, as pages of JSON texts.

The first query reads the caller's access and the total. The second one reads only the keys of the page's
nodes: the JSON of a node depends on its revision and the permission alone, so it is cached by them, and
the whole nodes are read only if one is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    FromClause,
    Integer,
    Select,
    bindparam,
    func,
    literal_column,
    select,
    tuple_,
    type_coerce,
    union_all,
)

from strongroom.clock import Clock
from strongroom.content.files.child_pages import Columns, PageQuery, Viewer, children_page, start_of_page
from strongroom.content.files.serializers import cached_nodes_json, node_json
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeAccess, NodeAccessQuery, NodeView
from strongroom.content.nodes.child_counts import children_of
from strongroom.content.nodes.group_visibility import through_groups
from strongroom.content.nodes.models import NODE, Permission, grants, nodes
from strongroom.content.nodes.node_filters import NodeOrder
from strongroom.content.nodes.node_selection import (
    Nodes,
    NodeSelection,
    children,
    page_of,
    position_of,
    total_of,
)
from strongroom.content.nodes.permissions import group_permission, is_at_top
from strongroom.content.tenants.group_members import is_in_any_group
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.database.statements import Statement
from strongroom.identity.users.service import UserService

_KEYS: Final[Columns] = (nodes.c.id, nodes.c.revision, nodes.c.owner_id)
"""Columns that identify a version of a node, and its owner."""

_WHOLE: Final[Columns] = tuple(nodes.c)

_FOLDER: Final = NodeAccessQuery(
    # As an integer, because a boolean of SQLite would be converted in Python.
    lambda query: query.add_columns(children_of(nodes.c.id), type_coerce(is_in_any_group(), Integer))
)
"""With the number of nodes, and whether the user is in a group: other users' lists read no groups."""

_ALL: Final = slice(None)


def _top_level_grants() -> ColumnElement[bool]:
    mine = grants.c.user_id == bindparam("user_id")
    return mine & (grants.c.tenant_id == bindparam("tenant_id")) & is_at_top(bindparam("now"))


_TOP_LEVEL_KEYS: Final = (grants.c.node_name, grants.c.node_id)


Ordered = Select[Any] | CompoundSelect[Any]
Parts = Sequence[Select[Any]]
"""Queries for the sort key and the permission of different nodes of one list."""


def _own_top_level() -> Parts:
    """Return the query for the top-level nodes of a member in no group."""
    return [select(*_TOP_LEVEL_KEYS, grants.c.permission).where(_top_level_grants())]


def _all_top_level() -> Parts:
    """Return the queries for the top-level nodes of a member in groups, with the own permission."""
    shared = through_groups().add_columns(literal_column("0").label("permission"))
    return [*_own_top_level(), shared]


def _together(parts: Parts) -> Ordered:
    return parts[0] if len(parts) == 1 else union_all(*parts)


def _in_order(parts: Parts, *, is_reversed: bool = False) -> Ordered:
    """Return the rows of all parts by name and id."""
    # Sorted as one compound query: the databases merge it with the own grants in the order of an index.
    found = _together(parts)
    keys = list(parts[0].selected_columns)[:2]
    return found.order_by(*((key.desc() for key in keys) if is_reversed else keys))


def _top_level_page(parts: Parts, paging: Paging) -> FromClause:
    """Return the first rows of a page, by name and id."""
    if paging.offset:
        first = tuple_(bindparam("first_name"), bindparam("first_id"))
        parts = [part.where(tuple_(*list(part.selected_columns)[:2]) >= first) for part in parts]
    # The limit is applied before the join, so that only the nodes of the page are read.
    return _in_order(parts).limit(literal_column(str(paging.size))).subquery("page")


def _with_nodes(page: FromClause, columns: Columns, own: ColumnElement[Any]) -> Select[Any]:
    joined = select(*columns, own).select_from(page).join(nodes, nodes.c.id == page.c.node_id)
    return joined.order_by(page.c.node_name, page.c.node_id)


def _top_level(paging: Paging, columns: Columns) -> Select[Any]:
    """Return the query for a page of the top-level nodes of a member in no group."""
    page = _top_level_page(_own_top_level(), paging)
    return _with_nodes(page, columns, page.c.permission)


def _shared_top_level(paging: Paging, columns: Columns) -> Select[Any]:
    """Return the query for a page of the top-level nodes of a member in groups."""
    page = _top_level_page(_all_top_level(), paging)
    own = greatest(page.c.permission, group_permission(page.c.node_id))
    return _with_nodes(page, columns, own)


@dataclass(frozen=True, slots=True)
class _TopLevel:
    """The statements of a top-level list: its total, the key after ``passed`` others, and a page."""

    total: Statement[Any]
    key_from_start: Statement[Any]
    key_from_end: Statement[Any]
    page: PageQuery
    nodes: Nodes


def _total(parts: Parts) -> Select[Any]:
    if len(parts) == 1:
        return parts[0].with_only_columns(func.count(), maintain_column_froms=True)
    return select(func.count()).select_from(union_all(*parts).subquery())


def _key_after(parts: Parts, *, is_reversed: bool = False) -> Ordered:
    # Without the permission, so that the own grants are scanned in the index alone.
    keys = [part.with_only_columns(*list(part.selected_columns)[:2]) for part in parts]
    found = _in_order(keys, is_reversed=is_reversed)
    return found.offset(bindparam("passed")).limit(literal_column("1"))


def _top_level_statements(parts: Callable[[], Parts], page: PageQuery) -> _TopLevel:
    return _TopLevel(
        Statement(lambda _: _total(parts())),
        Statement(lambda _: _key_after(parts())),
        Statement(lambda _: _key_after(parts(), is_reversed=True)),
        page,
        lambda: _together(parts()).subquery("listed"),
    )


_OWN: Final = _top_level_statements(_own_top_level, _top_level)
_SHARED: Final = _top_level_statements(_all_top_level, _shared_top_level)


@dataclass(frozen=True, slots=True)
class FilePage:
    """A page of files and folders.

    Args:
        total: the number of nodes in the whole list.
        records: each node as JSON text.
        included: the summaries of the nodes' owners, sorted by id.
    """

    total: int
    paging: Paging
    records: Sequence[str] = ()
    included: Sequence[dict[str, str]] = ()


class FileListing:
    """Lists the nodes of a tenant that a user, the owner of the list, can see."""

    def __init__(
        self, database: Database, clock: Clock, access: AccessControl, users: UserService
    ) -> None:
        self._database = database
        self._clock = clock
        self._access = access
        self._users = users
        self._statements: dict[tuple[object, ...], Statement[Any]] = {}

    def top_level(
        self,
        caller: AnyCaller,
        tenant_id: str,
        owner_id: str,
        paging: Paging,
        wanted: NodeSelection | None = None,
    ) -> FilePage:
        """Return the owner's top-level nodes: visible nodes whose parent is not visible.

        Args:
            owner_id: the user who sees the nodes.
            wanted: a filter and an order; ``None``: all nodes by name.

        Raises:
            TokenInvalid: the caller's login was revoked.
            Forbidden: the caller is neither the owner nor an administrator of the tenant.
        """
        with self._database.read() as connection:
            access = self._access_of_owner(connection, caller, tenant_id, owner_id, None)
            parameters = self._parameters(tenant_id, owner_id, tenant_id)
            if access.folder_id is not None:
                found = self._access.find(connection, caller, tenant_id, access.folder_id)
                return self._folder_of_key(connection, found, paging, wanted)
            # For administrators the top level is the content of the root node.
            if access.role is Role.ADMIN:
                return self._content(connection, access, parameters, paging, wanted)
            lists = _SHARED if access.more[1] else _OWN
            if wanted is not None:
                levels = (Permission.NONE, access.ceiling)
                total = None if wanted.is_filtered else lists.total.scalar(connection, parameters)
                return self._select(connection, lists.nodes, wanted, parameters, paging, levels, total)
            return self._granted(connection, lists, parameters, paging, access.ceiling)

    def inside(
        self,
        caller: AnyCaller,
        tenant_id: str,
        owner_id: str,
        parent_id: str,
        paging: Paging,
        wanted: NodeSelection | None = None,
    ) -> FilePage:
        """Return the nodes in a folder that the owner can see.

        Args:
            owner_id: the user who sees the nodes.
            wanted: a filter and an order; ``None``: all nodes by name.

        Raises:
            TokenInvalid: the caller's login was revoked.
            Forbidden: the caller is neither the owner nor an administrator of the tenant, or cannot
                see the folder.
            NotFound: the tenant has no such folder.
            NotAFolder: the node is a file.
        """
        with self._database.read() as connection:
            access = self._access_of_owner(connection, caller, tenant_id, owner_id, parent_id)
            parameters = self._parameters(tenant_id, owner_id, parent_id)
            return self._content(connection, access, parameters, paging, wanted)

    def _access_of_owner(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        owner_id: str,
        folder_id: str | None,
    ) -> NodeAccess:
        """Return the owner's access to a folder or to the root, with the number of its nodes."""
        access = self._access.find(connection, caller, tenant_id, folder_id, _FOLDER)
        if owner_id != caller.user_id:
            access.require_admin()
        if folder_id is None:
            access.require_member()
        else:
            access.require_folder(operations.LIST)
        if owner_id == caller.user_id:
            return access
        # The list shows what its owner can see, so the owner's access counts from here on.
        return self._access.find_of(connection, owner_id, tenant_id, folder_id, _FOLDER)

    def _folder_of_key(
        self,
        connection: Connection,
        access: NodeAccess,
        paging: Paging,
        wanted: NodeSelection | None,
    ) -> FilePage:
        """Return the top level of an access key that reaches only a folder: that folder."""
        if access.node is None or access.permission < operations.LIST.permission:
            return FilePage(0, paging)
        if wanted is not None and not wanted.matches(access.node):
            return FilePage(0, paging)
        if paging.offset:
            return FilePage(1, paging)
        record = node_json(NodeView(access.node, access.permission))
        owners = self._users.summaries(connection, [access.node.owner_id])
        return FilePage(1, paging, [record], owners)

    def _select(
        self,
        connection: Connection,
        listed: Nodes,
        wanted: NodeSelection,
        parameters: dict[str, Any],
        paging: Paging,
        levels: tuple[Permission, Permission],
        total: int | None = None,
    ) -> FilePage:
        """Return a page of a list that is filtered, or a sorted page of a member's top level.

        ``total`` is the number of selected nodes if it is known.
        """
        parameters |= wanted.parameters
        if total is None:
            total = int(total_of(listed, wanted.shape).scalar(connection, parameters))
        if paging.offset >= total:
            return FilePage(total, paging)
        position = position_of(paging, total)
        parameters["passed"] = position.passed
        query = page_of(listed, wanted.shape, from_end=position.from_end)
        return self._page(connection, query, parameters, paging, total, levels, position.rows)

    def _content(
        self,
        connection: Connection,
        access: NodeAccess,
        parameters: dict[str, Any],
        paging: Paging,
        wanted: NodeSelection | None,
    ) -> FilePage:
        """Return a page of a folder; it is empty if the owner of the list cannot see the folder."""
        total = access.more[0] if access.permission >= operations.LIST.permission else 0
        if total and wanted is not None and wanted.is_filtered:
            levels = (access.permission, access.ceiling)
            return self._select(connection, children, wanted, parameters, paging, levels)
        if paging.offset >= total:
            return FilePage(total, paging)
        order = NodeOrder() if wanted is None else wanted.order
        return self._in_order(connection, access, parameters, paging, total, order)

    def _in_order(
        self,
        connection: Connection,
        access: NodeAccess,
        parameters: dict[str, Any],
        paging: Paging,
        total: int,
        order: NodeOrder,
    ) -> FilePage:
        """Return a page of a folder; only the first one is read in the descending order."""
        offset, rows = paging.offset, _ALL
        if offset and order.descending:
            # The same rows backwards. The last page may have fewer than its size.
            offset = max(total - paging.offset - paging.size, 0)
            rows = slice(min(paging.size, total - paging.offset) - 1, None, -1)
        if offset:
            start = start_of_page(connection, parameters["node_id"], order.key, offset, total)
            if start is None:
                # Nodes were removed since the count, on PostgreSQL.
                return FilePage(total, paging)
            parameters |= start
        from_end = order.descending and not paging.offset
        query = children_page(order.key, _viewer(access), from_end=from_end)
        levels = (access.permission, access.ceiling)
        # The statement depends on whether there are rows before the page.
        found = Paging(2 if offset else 1, paging.size)
        page = self._page(connection, query, parameters, found, total, levels, rows)
        return replace(page, paging=paging)

    def _granted(
        self,
        connection: Connection,
        lists: _TopLevel,
        parameters: dict[str, Any],
        paging: Paging,
        ceiling: Permission,
    ) -> FilePage:
        """Return a page of a member's top-level nodes; non-members have none."""
        total: int = lists.total.scalar(connection, parameters)
        if paging.offset >= total:
            return FilePage(total, paging)
        if paging.offset:
            # The scan starts at the nearer end of the index.
            from_end = total - 1 - paging.offset
            is_near = paging.offset <= from_end
            statement = lists.key_from_start if is_near else lists.key_from_end
            passed = min(paging.offset, from_end)
            first = statement.first(connection, {**parameters, "passed": passed})
            if first is None:
                # A node was removed since the count, on PostgreSQL.
                return FilePage(total, paging)
            parameters |= dict(zip(("first_name", "first_id"), first, strict=True))
        levels = (Permission.NONE, ceiling)
        return self._page(connection, lists.page, parameters, paging, total, levels)

    def _page(
        self,
        connection: Connection,
        query: PageQuery,
        parameters: Mapping[str, Any],
        paging: Paging,
        total: int,
        levels: tuple[Permission, Permission],
        part: slice = _ALL,
    ) -> FilePage:
        """Return a page of a query.

        Args:
            total: the number of nodes in the list.
            levels: the least and the highest permission on the nodes.
            part: the part of the rows that is the page.
        """
        permissions = _within(levels)
        rows = self._statement(query, paging, _KEYS).all(connection, parameters)[part]
        keys = [(node_id, revision, permissions[own]) for node_id, revision, _, own in rows]
        records = cached_nodes_json(keys)
        # One missing node needs the same query as all of them, so all are read again.
        if None in records:
            whole = self._statement(query, paging, _WHOLE).all(connection, parameters)[part]
            records = [_record(row, permissions) for row in whole]
        # Owners are not part of the cached JSON: their names change without a new revision of the node.
        owners = self._users.summaries(connection, {owner_id for _, _, owner_id, _ in rows})
        return FilePage(total, paging, [record for record in records if record], owners)

    def _statement(self, query: PageQuery, paging: Paging, columns: Columns) -> Statement[Any]:
        # The page size is part of the statement's text; the offset is a parameter.
        key = (query, columns is _WHOLE, paging.size, paging.offset > 0)
        statement = self._statements.get(key)
        if statement is None:
            statement = self._statements[key] = Statement(query(paging, columns), tuple)
        return statement

    def _parameters(self, tenant_id: str, owner_id: str, folder_id: str) -> dict[str, Any]:
        return {
            "user_id": owner_id,
            "tenant_id": tenant_id,
            "node_id": folder_id,
            "now": self._clock.now(),
        }


def _viewer(access: NodeAccess) -> Viewer:
    if access.permission is Permission.MANAGE:
        return Viewer.MANAGER
    return Viewer.MEMBER_OF_GROUPS if access.more[1] else Viewer.MEMBER


@cache
def _within(levels: tuple[Permission, Permission]) -> Sequence[Permission]:
    """Return the permission on a node by the user's grant on it, from the least to the highest level."""
    least, most = levels
    return tuple(min(max(least, own), most) for own in Permission)


def _record(row: Sequence[Any], permissions: Sequence[Permission]) -> str:
    node, (own,) = NODE.split(row)
    return node_json(NodeView(node, permissions[own]))
