"""Finds the nodes of a tenant by their names, among those that the caller can see.

A search finds the most recently named nodes first, at most :data:`MAX_HITS` of them, and then sorts
them. So its cost is bounded, for a text that half of the names contain as well, and the total and all
pages are of visible nodes only: nodes that the caller cannot see are dropped before they are counted.

Candidates come from the index of names, or from the nodes that the caller sees if these are few; see
:mod:`strongroom.extensions.search.scope`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    FromClause,
    Select,
    bindparam,
    literal_column,
    select,
)

from strongroom.clock import Clock
from strongroom.content.files.list_requests import FilePage
from strongroom.content.files.serializers import cached_nodes_json, node_json
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeAccess, NodeView
from strongroom.content.nodes.effective_permission import granted_permission
from strongroom.content.nodes.models import NODE, NodeType, Permission, nodes
from strongroom.content.nodes.name_index import NAME_INDEX, sources
from strongroom.content.nodes.node_filters import NodeFilter, NodeOrder, conditions
from strongroom.content.tenants.models import Role
from strongroom.extensions.search import scope as search_scope
from strongroom.extensions.search.scope import (
    InheritedPermissions,
    ScopeShape,
    SearchScope,
    extent,
    in_scope,
    names_within,
)
from strongroom.foundation.cache import BuiltOnce
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, make_page
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Source, TextMatch
from strongroom.identity.users.service import UserService

MAX_HITS: Final = 1000
"""Number of nodes that a search finds at most."""

_BATCH: Final = 4000
"""Number of candidates whose folders are read at once."""

_SHARE: Final = 8
"""If fewer than one in this many of the first candidates is in the scope, most others are not."""

_FEW_NODES: Final = 5000
"""Number of nodes of a scope whose names are read, instead of the index."""

_ENDLESS: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class NodeSearch:
    """The criteria of a search.

    Args:
        text: the text that names contain; case and compatible characters do not matter.
        parent_id: the folder that the nodes are in, at any depth; ``None`` is the whole tenant.
        filter: further criteria.
        order: the sort order of the result.
    """

    text: str
    parent_id: str | None = None
    filter: NodeFilter = field(default_factory=NodeFilter)
    order: NodeOrder = field(default_factory=NodeOrder)


class _Candidate(NamedTuple):
    """A node whose name matches."""

    number: int
    id: str
    parent_id: str
    revision: int
    owner_id: str
    type: str
    name: str
    size: int
    updated_at: int
    trash_id: str | None
    sort_key: str


@BuiltOnce
def _candidates(
    source: Source, used: frozenset[str], shape: ScopeShape | None, limit: int
) -> Statement[_Candidate]:
    """Return the query for the next candidates after the name with the number ``before``.

    Args:
        shape: the scope that limits the candidates, if any.
    """
    wanted = [*conditions(used), *([in_scope(shape)] if shape else [])]

    def build(dialect: str) -> Select[Any]:
        names = source(dialect)
        found = select(names.c.number, names.c.node_id)
        found = found.where(names.c.number < bindparam("before", type_=BigInteger))
        if not wanted:
            # Limited before the join, so that no further nodes are read.
            found = _newest(found, names, limit)
        rows = found.subquery("rows")
        columns = [nodes.c[name] for name in _Candidate._fields[1:]]
        query = select(rows.c.number, *columns).join(nodes, nodes.c.id == rows.c.node_id)
        return _newest(query.where(*wanted), rows, limit)

    return Statement(build, _Candidate._make)


def _newest(query: Select[Any], names: FromClause, limit: int) -> Select[Any]:
    return query.order_by(names.c.number.desc()).limit(literal_column(str(limit)))


_IS_WANTED: Final = nodes.c.id.in_(bindparam("ids", expanding=True))
_HELD: Final = Statement(select(nodes.c.id, granted_permission(nodes.c.id)).where(_IS_WANTED), tuple)
_WHOLE: Final = Statement(select(nodes).where(_IS_WANTED), NODE)


@dataclass(slots=True, eq=False, repr=False)
class FileSearch:
    """Searches for files and folders by name."""

    _database: Database
    _clock: Clock
    _access: AccessControl
    _users: UserService

    @replica_read
    def search(self, caller: AnyCaller, tenant_id: str, wanted: NodeSearch, paging: Paging) -> FilePage:
        """Return a page of the nodes that the caller can see and whose names contain a text.

        Raises:
            TokenInvalid: the caller's login was revoked.
            Forbidden: the caller is not a member of the tenant, or cannot see the folder.
            NotFound: the tenant has no such folder.
            NotAFolder: ``parent_id`` is a file.
        """
        with self._database.read() as connection:
            scope = self._scope(connection, caller, tenant_id, wanted.parent_id)
            if scope is None:
                return FilePage(0, paging)
            match = NAME_INDEX.match(wanted.text, tenant_id)
            parameters = {
                **match.parameters(NAME_INDEX),
                **wanted.filter.parameters,
                "user_id": caller.user_id,
                "now": self._clock.now(),
                "within": scope.within,
            }
            hits = _hits(connection, scope, match, wanted.filter.used, parameters)
            page = _sorted_page(hits, wanted.order, paging)
            owners = self._users.summaries(connection, {node.owner_id for node in page.items})
            views = _permissions(connection, scope, page.items, parameters)
            return FilePage(len(hits), paging, _records(connection, views), owners, page.following)

    def _scope(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, parent_id: str | None
    ) -> SearchScope | None:
        """Return the scope of a search; ``None`` if the caller can see nothing."""
        access: NodeAccess = self._access.find(connection, caller, tenant_id, parent_id)
        access.require_member()
        is_admin = access.role is Role.ADMIN
        if parent_id is not None:
            access.require_folder(operations.LIST)
            return SearchScope(is_admin, parent_id, includes_folder=False, ceiling=access.ceiling)
        limit = access.folder_id
        if limit is not None:
            # The query knows whether the caller, such as an access key, reaches its folder.
            limited = self._access.find(connection, caller, tenant_id, limit)
            if not limited.may(operations.LIST):
                return None
        return SearchScope(is_admin, limit, includes_folder=True, ceiling=access.ceiling)


def _hits(
    connection: Connection,
    scope: SearchScope,
    match: TextMatch,
    used: frozenset[str],
    parameters: dict[str, Any],
) -> list[_Candidate]:
    """Return the most recently named nodes that match and are in the scope."""
    if scope.is_everything:
        return _scan(connection, sources(connection, match), used, parameters)
    folders, count = extent(connection, scope, parameters)
    if folders <= search_scope.MAX_FOLDERS and count <= _FEW_NODES:
        return _scan(connection, [names_within(scope.shape)], used, parameters) if count else []
    if folders > search_scope.MAX_FOLDERS:
        return _checked(connection, scope, sources(connection, match), used, parameters)
    return _scan(connection, sources(connection, match, count), used, parameters, scope.shape)


def _scan(
    connection: Connection,
    unread: Sequence[Source],
    used: frozenset[str],
    parameters: dict[str, Any],
    shape: ScopeShape | None = None,
) -> list[_Candidate]:
    """Return the first nodes of some sources, in the scope of a shape."""
    hits: list[_Candidate] = []
    before = _ENDLESS
    while unread and len(hits) < MAX_HITS:
        found = _candidates(unread[0], used, shape, MAX_HITS).all(
            connection, {**parameters, "before": before}
        )
        hits += _live(found)
        if len(found) < MAX_HITS:
            unread = unread[1:]
        else:
            before = found[-1].number
    return hits[:MAX_HITS]


def _live(found: Sequence[_Candidate]) -> Sequence[_Candidate]:
    """Return the nodes that are not in the trash."""
    return [node for node in found if node.trash_id is None]


def _checked(
    connection: Connection,
    scope: SearchScope,
    unread: Sequence[Source],
    used: frozenset[str],
    parameters: dict[str, Any],
) -> list[_Candidate]:
    """Return the hits in a scope of very many folders: the folders around each candidate are read."""
    hits: list[_Candidate] = []
    batch, before, every = MAX_HITS, _ENDLESS, unread
    while unread and len(hits) < MAX_HITS:
        statement = _candidates(unread[0], used, None, batch)
        found = statement.all(connection, {**parameters, "before": before})
        hits += _visible(connection, scope, _live(found), parameters)
        if len(found) < batch:
            unread = unread[1:]
            continue
        if len(hits) * _SHARE < batch:
            # Most candidates are outside the scope, so the statements filter them from here on.
            return _scan(connection, every, used, parameters, scope.shape)
        batch, before = _BATCH, found[-1].number
    return hits[:MAX_HITS]


def _visible(
    connection: Connection, scope: SearchScope, found: Sequence[_Candidate], parameters: dict[str, Any]
) -> list[_Candidate]:
    """Return the nodes that are in the scope."""
    parents = {node.parent_id for node in found}
    inherited = InheritedPermissions(connection, parents, scope.within, parameters)
    levels = [(node, *inherited.resolve(node.parent_id)) for node in found]
    if scope.within is not None:
        is_limit = scope.within if scope.includes_folder else None
        return [node for node, _, is_within in levels if is_within or node.id == is_limit]
    held = _held(connection, [node.id for node, level, _ in levels if not level], parameters)
    return [node for node, level, _ in levels if level or held.get(node.id)]


def _held(connection: Connection, ids: list[str], parameters: dict[str, Any]) -> dict[str, int]:
    """Return the caller's own grants on nodes by id."""
    return dict(_HELD.all(connection, {**parameters, "ids": ids})) if ids else {}


class _Permitted(NamedTuple):
    node: _Candidate
    permission: Permission


def _permissions(
    connection: Connection, scope: SearchScope, page: Sequence[_Candidate], parameters: dict[str, Any]
) -> list[_Permitted]:
    """Return the caller's permission on each node of a page."""
    if scope.is_admin:
        return [_Permitted(node, scope.ceiling) for node in page]
    inherited = InheritedPermissions(connection, {node.parent_id for node in page}, None, parameters)
    held = _held(connection, [node.id for node in page], parameters)
    return [
        _Permitted(
            node,
            Permission(min(max(inherited.resolve(node.parent_id)[0], held[node.id]), scope.ceiling)),
        )
        for node in page
        # A node that was removed since, on PostgreSQL.
        if node.id in held
    ]


def _sorted_page(hits: list[_Candidate], order: NodeOrder, paging: Paging) -> Page[_Candidate]:
    def key(node: _Candidate) -> tuple[Any, ...]:
        is_last = order.folders_first and (node.type == NodeType.FOLDER) is order.descending
        return is_last, *order.sort_value(node)

    return make_page(hits, paging, key, descending=order.descending)


def _records(connection: Connection, page: Sequence[_Permitted]) -> list[str]:
    """Return the JSON texts of nodes; whole rows are read only of those that are not cached."""
    texts = cached_nodes_json([(hit.node.id, hit.node.revision, hit.permission) for hit in page])
    missing = [hit.node.id for hit, known in zip(page, texts, strict=True) if known is None]
    rows = _WHOLE.all(connection, {"ids": missing}) if missing else []
    whole = {node.id: node for node in rows}
    records = (
        known or _record(whole.get(hit.node.id), hit.permission)
        for hit, known in zip(page, texts, strict=True)
    )
    return [record for record in records if record]


def _record(node: Any, permission: Permission) -> str:
    # A node that was removed since is not in the page, on PostgreSQL.
    return node_json(NodeView(node, permission)) if node else ""
