"""Lists the files and folders that a user can see, as pages of JSON texts.

The first query reads the caller's access and the total. The second one reads only the keys of the page's
nodes: the JSON of a node depends on its revision and the permission alone, so it is cached by them, and
the whole nodes are read only if one is missing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    Connection,
    Integer,
    type_coerce,
)

from strongroom.clock import Clock
from strongroom.content.files.child_pages import (
    Columns,
    PageQuery,
    Viewer,
    children_after,
    children_page,
    start_of_page,
)
from strongroom.content.files.serializers import cached_nodes_json, node_json
from strongroom.content.files.top_level import OWN, SHARED, TopLevel, TopLevelSection, keys_of
from strongroom.content.nodes import operations, order_counts
from strongroom.content.nodes.access import AccessControl, NodeAccess, NodeAccessQuery, NodeView
from strongroom.content.nodes.child_counts import children_of
from strongroom.content.nodes.models import NODE, NodeType, Permission, nodes
from strongroom.content.nodes.node_cursors import CursorPaging, NodeCursor
from strongroom.content.nodes.node_filters import ListSection, NodeOrder
from strongroom.content.nodes.node_selection import (
    Nodes,
    NodeSelection,
    children,
    columns_of_selection,
    page_after,
    page_of,
    position_of,
    total_of,
)
from strongroom.content.tenants.groups.members import is_in_any_group
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.keysets import Key
from strongroom.foundation.database.paging import Page, Paging
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

AnyPaging = Paging | CursorPaging


@dataclass(frozen=True, slots=True)
class FilePage:
    """A page of files and folders.

    Args:
        total: the number of nodes in the whole list.
        records: each node as JSON text.
        included: the summaries of the nodes' owners, sorted by id.
        following: the key of the last node of a page by cursor, if there is a next page.
    """

    total: int
    paging: AnyPaging
    records: Sequence[str] = ()
    included: Sequence[dict[str, str]] = ()
    following: Key | None = None

    @property
    def page(self) -> Page[str]:
        """The page without its records, for the envelope of a response."""
        if isinstance(self.paging, Paging):
            return Page((), self.total, self.paging, self.following)
        return Page((), self.total, Paging(self.paging.number, self.paging.size, ()), self.following)


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
        paging: AnyPaging,
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
            lists = SHARED if access.more[1] else OWN
            if wanted is not None and wanted.is_filtered:
                levels = (Permission.NONE, access.ceiling)
                return self._select(connection, lists.nodes, wanted, parameters, paging, levels)
            order = _order_of(wanted)
            return self._granted(connection, lists, parameters, paging, access.ceiling, order)

    def inside(
        self,
        caller: AnyCaller,
        tenant_id: str,
        owner_id: str,
        parent_id: str,
        paging: AnyPaging,
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
        paging: AnyPaging,
        wanted: NodeSelection | None,
    ) -> FilePage:
        """Return the top level of an access key that reaches only a folder: that folder."""
        if access.node is None or access.permission < operations.LIST.permission:
            return FilePage(0, paging)
        if wanted is not None and not wanted.matches(access.node):
            return FilePage(0, paging)
        if paging.number > 1:
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
        paging: AnyPaging,
        levels: tuple[Permission, Permission],
    ) -> FilePage:
        """Return a page of a list that is filtered."""
        parameters |= wanted.parameters
        shape = wanted.shape
        total = int(total_of(listed, shape).scalar(connection, parameters))
        if isinstance(paging, CursorPaging):
            query_of = partial(page_after, listed, shape)
            page = CursorPage(paging, shape.order, total, levels, columns_of_selection, query_of)
            return self._after(connection, page, parameters)
        if paging.offset >= total:
            return FilePage(total, paging)
        position = position_of(paging, total)
        parameters["passed"] = position.passed
        query = page_of(listed, shape, from_end=position.from_end)
        return self._page(connection, query, parameters, paging, total, levels, position.rows)

    def _content(
        self,
        connection: Connection,
        access: NodeAccess,
        parameters: dict[str, Any],
        paging: AnyPaging,
        wanted: NodeSelection | None,
    ) -> FilePage:
        """Return a page of a folder; it is empty if the owner of the list cannot see the folder."""
        total = access.more[0] if access.permission >= operations.LIST.permission else 0
        if total and wanted is not None and wanted.is_filtered:
            levels = (access.permission, access.ceiling)
            return self._select(connection, children, wanted, parameters, paging, levels)
        order = _order_of(wanted)
        if isinstance(paging, CursorPaging):
            levels = (access.permission, access.ceiling)
            query_of = partial(_children_after, _viewer(access))
            columns_of = order_counts.key_columns
            page = CursorPage(paging, order, total, levels, columns_of, query_of)
            return self._after(connection, page, parameters) if total else FilePage(0, paging)
        if paging.offset >= total:
            return FilePage(total, paging)
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
        """Return a page of a folder."""
        folder_id, levels = parameters["node_id"], (access.permission, access.ceiling)

        def read(section: ListSection, count: int, part: SectionPart) -> FilePage:
            query = children_page(section, _viewer(access), from_end=part.from_end)
            start: dict[str, Any] | None = {}
            if part.offset:
                start = start_of_page(connection, folder_id, section, part.offset, count)
            if start is None:
                # Nodes were removed since the count, on PostgreSQL.
                return FilePage(count, paging)
            return self._page(
                connection, query, {**parameters, **start}, part.place, count, levels, part.rows
            )

        counts = [total]
        if len(order.sections) > 1:
            # At most the total, because nodes may have been added since it was read, on PostgreSQL.
            folders = min(order_counts.count_folders(connection, folder_id, total), total)
            counts = [
                folders if section.type is NodeType.FOLDER else total - folders
                for section in order.sections
            ]
        return _joined(_parts(order, counts, paging), read, paging, total)

    def _granted(
        self,
        connection: Connection,
        lists: TopLevel,
        parameters: dict[str, Any],
        paging: AnyPaging,
        ceiling: Permission,
        order: NodeOrder,
    ) -> FilePage:
        """Return a page of a member's top-level nodes; non-members have none."""
        levels = (Permission.NONE, ceiling)
        totals = [lists.section(section).total for section in order.sections]
        counts = [int(total.scalar(connection, parameters)) for total in totals]
        if isinstance(paging, CursorPaging):
            query_of = partial(_top_level_after, lists)
            page = CursorPage(paging, order, sum(counts), levels, keys_of, query_of)
            return self._after(connection, page, parameters)

        def read(section: ListSection, count: int, part: SectionPart) -> FilePage:
            statements = lists.section(section)
            query = statements.last_page if part.from_end else statements.page
            start: dict[str, Any] = {}
            if part.offset:
                key = _key_at(connection, statements, parameters, part.offset, count)
                if key is None:
                    # A node was removed since the count, on PostgreSQL.
                    return FilePage(count, paging)
                start = statements.start(key)
            return self._page(
                connection, query, {**parameters, **start}, part.place, count, levels, part.rows
            )

        return _joined(_parts(order, counts, paging), read, paging, sum(counts))

    def _after(self, connection: Connection, page: "CursorPage", parameters: dict[str, Any]) -> FilePage:
        """Return a page of a list by cursor."""
        paging, order, permissions = page.paging, page.order, _within(page.levels)
        rows: list[tuple[ListSection, Sequence[Any]]] = []
        for section, cursor in paging.remaining(order):
            start = cursor.start(page.columns_of(section)) if cursor else {}
            query = page.query_of(section, descending=order.descending)
            # One more than the page has, to know whether there is another page.
            place = Paging(2 if cursor else 1, paging.size + 1)
            of_section = self._statement(query, place, _WHOLE).all(connection, {**parameters, **start})
            rows += [(section, row) for row in of_section]
            if len(rows) > paging.size:
                break
        page_nodes = [(section, *NODE.split(row)) for section, row in rows[: paging.size]]
        records = [node_json(NodeView(node, permissions[own])) for _, node, (own,) in page_nodes]
        owners = self._users.summaries(connection, {node.owner_id for _, node, _ in page_nodes})
        following = None
        if len(rows) > paging.size:
            section, last, _ = page_nodes[-1]
            following = NodeCursor.of_node(paging.number, order, section, last).values
        return FilePage(page.total, paging, records, owners, following)

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


def _order_of(wanted: NodeSelection | None) -> NodeOrder:
    return NodeOrder() if wanted is None else wanted.order


class CursorPage(NamedTuple):
    """A page of a list by cursor.

    Args:
        total: the number of nodes in the list.
        levels: the least and the highest permission on the nodes.
        columns_of: returns the columns that a section is sorted by.
        query_of: returns the query for the nodes of a section after a cursor.
    """

    paging: CursorPaging
    order: NodeOrder
    total: int
    levels: tuple[Permission, Permission]
    columns_of: Callable[[ListSection], Columns]
    query_of: Callable[..., PageQuery]


def _children_after(viewer: Viewer, section: ListSection, *, descending: bool) -> PageQuery:
    return children_after(section, viewer, descending=descending)


def _top_level_after(lists: TopLevel, section: ListSection, *, descending: bool) -> PageQuery:
    return lists.section(section).after[descending]


class SectionPart(NamedTuple):
    """The part of a section that a page has; the database reads as many rows as the page size.

    Only the first page of a descending section is read from its end, each other one is read ascending.

    Args:
        offset: the number of nodes before the rows that are read, ascending.
        from_end: whether the rows are read from the end of the section, descending.
        rows: the part of these rows, in the order of the page.
        size: the page size.
    """

    offset: int
    from_end: bool
    rows: slice
    size: int

    @property
    def place(self) -> Paging:
        """The paging of its statement, which depends on whether there are rows before the page."""
        return Paging(2 if self.offset else 1, self.size)

    @classmethod
    def of_page(
        cls, paging: Paging, first: int, length: int, count: int, *, descending: bool
    ) -> "SectionPart":
        """Return the part of some nodes.

        Args:
            first: the position of the first node, in the order of the list.
            length: the number of nodes.
            count: the number of all nodes of the section.
        """
        if not (first and descending):
            return cls(first, descending, slice(length), paging.size)
        # The same rows backwards. There may be fewer than the page size.
        offset = max(count - first - paging.size, 0)
        last = count - first - 1 - offset
        end = last - length
        return cls(offset, False, slice(last, end if end >= 0 else None, -1), paging.size)


SectionParts = Sequence[tuple[ListSection, int, SectionPart]]
"""Sections with the number of their nodes, and the part of each that a page has."""


def _parts(order: NodeOrder, counts: Sequence[int], paging: Paging) -> SectionParts:
    """Return the sections that a page has nodes of.

    Args:
        counts: the number of nodes of each section of the order.
    """
    parts: list[tuple[ListSection, int, SectionPart]] = []
    passed = 0
    for section, count in zip(order.sections, counts, strict=True):
        first = max(paging.offset - passed, 0)
        length = min(count, paging.offset + paging.size - passed) - first
        if length > 0:
            part = SectionPart.of_page(paging, first, length, count, descending=order.descending)
            parts.append((section, count, part))
        passed += count
    return parts


def _joined(
    parts: SectionParts,
    read: Callable[[ListSection, int, SectionPart], FilePage],
    paging: Paging,
    total: int,
) -> FilePage:
    """Return the page of which the parts are read by a function."""
    pages = [read(*part) for part in parts]
    records = [record for page in pages for record in page.records]
    owners = {owner["id"]: owner for page in pages for owner in page.included}
    return FilePage(total, paging, records, [owners[owner_id] for owner_id in sorted(owners)])


def _key_at(
    connection: Connection,
    statements: TopLevelSection,
    parameters: Mapping[str, Any],
    offset: int,
    total: int,
) -> Sequence[Any] | None:
    """Return the key at an offset; the scan starts at the nearer end of the index."""
    from_end = total - 1 - offset
    statement = statements.key_from_start if offset <= from_end else statements.key_from_end
    key: Sequence[Any] | None = statement.first(
        connection, {**parameters, "passed": min(offset, from_end)}
    )
    return key


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
