"""Lists the files and folders that a user can see, as pages of JSON texts.

The first query reads the caller's access and the total. The second one reads only the keys of the page's
nodes: the JSON of a node depends on its revision and the permission alone, so it is cached by them, and
the whole nodes are read only if one is missing.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any, Final, cast

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
from strongroom.content.files.list_requests import AnyPaging, CursorPage, FilePage, ListRequest
from strongroom.content.files.section_parts import SectionPart, section_parts
from strongroom.content.files.serializers import cached_nodes_json, node_json
from strongroom.content.files.top_level import OWN, SHARED, TopLevel, TopLevelSection, section_keys
from strongroom.content.nodes import operations, order_counts
from strongroom.content.nodes.access import AccessControl, NodeAccess, NodeAccessQuery, NodeView
from strongroom.content.nodes.child_counts import child_count
from strongroom.content.nodes.models import NODE, NodeType, Permission, nodes
from strongroom.content.nodes.node_cursors import CursorPaging, NodeCursor
from strongroom.content.nodes.node_filters import ListSection
from strongroom.content.nodes.node_selection import (
    Nodes,
    NodeSelection,
    children,
    columns_of_selection,
    get_position,
    page_after,
    page_query,
    total_statement,
)
from strongroom.content.tenants.groups.members import is_in_any_group
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.database.statements import Statement
from strongroom.identity.users.service import UserService

_KEYS: Final[Columns] = (nodes.c.id, nodes.c.revision, nodes.c.owner_id)
"""Columns that identify a version of a node, and its owner."""

_WHOLE: Final[Columns] = tuple(nodes.c)

_FOLDER: Final = NodeAccessQuery(
    # As an integer, because a boolean of SQLite would be converted in Python.
    lambda query: query.add_columns(child_count(nodes.c.id), type_coerce(is_in_any_group(), Integer))
)
"""With the number of nodes, and whether the user is in a group: other users' lists read no groups."""

Part = tuple[Sequence[str], Collection[str]]
"""A part of a page: the nodes as JSON texts, and the ids of their owners."""

NOTHING: Final[Part] = ((), ())

Levels = tuple[Permission, Permission]
"""The least and the highest permission on the nodes of a list."""


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

    @replica_read
    def top_level(
        self,
        caller: AnyCaller,
        tenant_id: str,
        owner_id: str,
        paging: AnyPaging,
        selection: NodeSelection | None = None,
    ) -> FilePage:
        """Return the owner's top-level nodes: visible nodes whose parent is not visible.

        Args:
            owner_id: the user who sees the nodes.
            selection: a filter and an order; ``None``: all nodes by name.

        Raises:
            TokenInvalid: the caller's login was revoked.
            Forbidden: the caller is neither the owner nor an administrator of the tenant.
        """
        with self._database.read() as connection:
            access = self._access_of_owner(connection, caller, tenant_id, owner_id, None)
            parameters = self._parameters(tenant_id, owner_id, tenant_id)
            request = ListRequest(connection, parameters, paging, selection)
            if access.folder_id is not None:
                reached = self._access.find(connection, caller, tenant_id, access.folder_id)
                return self._folder_of_key(request, reached)
            # For administrators the top level is the content of the root node.
            if access.role is Role.ADMIN:
                return self._content(request, access)
            lists, levels = SHARED if access.more[1] else OWN, (Permission.NONE, access.ceiling)
            if selection is not None and selection.is_filtered:
                return self._select(request, selection, lists.nodes, levels)
            return self._granted(request, lists, levels)

    @replica_read
    def inside(
        self,
        caller: AnyCaller,
        tenant_id: str,
        owner_id: str,
        parent_id: str,
        paging: AnyPaging,
        selection: NodeSelection | None = None,
    ) -> FilePage:
        """Return the nodes in a folder that the owner can see.

        Args:
            owner_id: the user who sees the nodes.
            selection: a filter and an order; ``None``: all nodes by name.

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
            request = ListRequest(connection, parameters, paging, selection)
            return self._content(request, access)

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
        return self._access.find_for_user(connection, owner_id, tenant_id, folder_id, _FOLDER)

    def _folder_of_key(self, request: ListRequest, access: NodeAccess) -> FilePage:
        """Return the top level of an access key that reaches only a folder: that folder."""
        if access.node is None or access.permission < operations.LIST.permission:
            return request.page()
        if request.selection is not None and not request.selection.matches(access.node):
            return request.page()
        request = request._replace(total=1)
        if request.paging.number > 1:
            return request.page()
        record = node_json(NodeView(access.node, access.permission))
        owners = self._users.summaries(request.connection, [access.node.owner_id])
        return request.page([record], owners)

    def _select(
        self, request: ListRequest, selection: NodeSelection, listed: Nodes, levels: Levels
    ) -> FilePage:
        """Return a page of a list that is filtered."""
        parameters = {**request.parameters, **selection.parameters}
        shape, paging = selection.shape, request.paging
        total = int(total_statement(listed, shape).scalar(request.connection, parameters))
        request = request._replace(parameters=parameters, total=total, levels=levels)
        if isinstance(paging, CursorPaging):
            query_of = partial(page_after, listed, shape)
            return self._after(request, CursorPage(paging, columns_of_selection, query_of))
        if paging.offset >= total:
            return request.page()
        position = get_position(paging, total)
        query = page_query(listed, shape, from_end=position.from_end)
        start = {"passed": position.passed}
        return self._page(request, [self._read(request, query, paging, position.rows, start)])

    def _content(self, request: ListRequest, access: NodeAccess) -> FilePage:
        """Return a page of a folder; it is empty if the owner of the list cannot see the folder."""
        total = access.more[0] if access.permission >= operations.LIST.permission else 0
        paging, selection = request.paging, request.selection
        levels = (access.permission, access.ceiling)
        if total and selection is not None and selection.is_filtered:
            return self._select(request, selection, children, levels)
        # Hot: without the calls of _replace() (ADR 0076).
        request = ListRequest(*request[:4], levels, total)
        if isinstance(paging, CursorPaging):
            query_of = partial(_children_after, _viewer(access))
            page = CursorPage(paging, order_counts.key_columns, query_of)
            return self._after(request, page) if total else request.page()
        if paging.offset >= total:
            return request.page()
        return self._in_order(request, paging, _viewer(access))

    def _in_order(self, request: ListRequest, paging: Paging, viewer: Viewer) -> FilePage:
        """Return a page of a folder."""
        connection, folder_id = request.connection, request.parameters["node_id"]
        order, total = request.order, request.total

        def read(section: ListSection, count: int, part: SectionPart) -> Part:
            query = children_page(section, viewer, from_end=part.from_end)
            start: dict[str, Any] | None = {}
            if part.offset:
                start = start_of_page(connection, folder_id, section, part.offset, count)
            if start is None:
                # Nodes were removed since the count, on PostgreSQL.
                return NOTHING
            return self._read(request, query, part.place, part.rows, start)

        counts = [total]
        if len(order.sections) > 1:
            # At most the total, because nodes may have been added since it was read, on PostgreSQL.
            folders = min(order_counts.count_folders(connection, folder_id, total), total)
            counts = [
                folders if section.type is NodeType.FOLDER else total - folders
                for section in order.sections
            ]
        return self._page(request, [read(*part) for part in section_parts(order, counts, paging)])

    def _granted(self, request: ListRequest, lists: TopLevel, levels: Levels) -> FilePage:
        """Return a page of a member's top-level nodes; non-members have none."""
        connection, parameters, order = request.connection, request.parameters, request.order
        totals = [lists.section(section).total for section in order.sections]
        counts = [int(total.scalar(connection, parameters)) for total in totals]
        request = request._replace(total=sum(counts), levels=levels)
        paging = request.paging
        if isinstance(paging, CursorPaging):
            page = CursorPage(paging, section_keys, partial(_top_level_after, lists))
            return self._after(request, page)

        def read(section: ListSection, count: int, part: SectionPart) -> Part:
            statements = lists.section(section)
            query = statements.last_page if part.from_end else statements.page
            start: dict[str, Any] = {}
            if part.offset:
                key = _key_at(connection, statements, parameters, part.offset, count)
                if key is None:
                    # A node was removed since the count, on PostgreSQL.
                    return NOTHING
                start = statements.start(key)
            return self._read(request, query, part.place, part.rows, start)

        return self._page(request, [read(*part) for part in section_parts(order, counts, paging)])

    def _after(self, request: ListRequest, page: CursorPage) -> FilePage:
        """Return a page of a list by cursor."""
        paging, order, permissions = page.paging, request.order, _within(request.levels)
        rows: list[tuple[ListSection, Sequence[Any]]] = []
        for section, cursor in paging.remaining(order):
            start = cursor.start(page.get_columns(section)) if cursor else {}
            query = page.query_of(section, descending=order.descending)
            # One more than the page has, to know whether there is another page.
            place = Paging(2 if cursor else 1, paging.size + 1)
            parameters = {**request.parameters, **start}
            of_section = self._statement(query, place, _WHOLE).all(request.connection, parameters)
            rows += [(section, row) for row in of_section]
            if len(rows) > paging.size:
                break
        page_nodes = [(section, *NODE.split(row)) for section, row in rows[: paging.size]]
        records = [node_json(NodeView(node, permissions[own])) for _, node, (own,) in page_nodes]
        owner_ids = {node.owner_id for _, node, _ in page_nodes}
        owners = self._users.summaries(request.connection, owner_ids)
        following = None
        if len(rows) > paging.size:
            section, last, _ = page_nodes[-1]
            following = NodeCursor.of_node(paging.number, order, section, last).values
        return request.page(records, owners, following)

    def _page(self, request: ListRequest, parts: Sequence[Part]) -> FilePage:
        """Return the page that consists of some parts."""
        # Owners are not part of the cached JSON: their names change without a new revision of the node.
        owner_ids = set(chain.from_iterable(owners for _, owners in parts))
        owners = self._users.summaries(request.connection, owner_ids)
        return request.page([*chain.from_iterable(records for records, _ in parts)], owners)

    def _read(
        self,
        request: ListRequest,
        query: PageQuery,
        place: Paging,
        part: slice,
        start: Mapping[str, Any],
    ) -> Part:
        """Return a part of a page, the rows of a query.

        Args:
            place: the paging of the statement.
            part: the rows that belong to the page.
            start: further parameters of the statement.
        """
        connection, permissions = request.connection, _within(request.levels)
        parameters = {**request.parameters, **start}
        rows = self._statement(query, place, _KEYS).all(connection, parameters)[part]
        keys = [(node_id, revision, permissions[own]) for node_id, revision, _, own in rows]
        records, owner_ids = cached_nodes_json(keys), {owner_id for _, _, owner_id, _ in rows}
        # Hot: a search for None would compare it with each text (ADR 0076); no text is empty.
        if all(records):
            return cast("list[str]", records), owner_ids
        # One missing node needs the same query as all of them, so all are read again.
        whole = self._statement(query, place, _WHOLE).all(connection, parameters)[part]
        return [_record(row, permissions) for row in whole], owner_ids

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


def _children_after(viewer: Viewer, section: ListSection, *, descending: bool) -> PageQuery:
    return children_after(section, viewer, descending=descending)


def _top_level_after(lists: TopLevel, section: ListSection, *, descending: bool) -> PageQuery:
    return lists.section(section).after[descending]


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
