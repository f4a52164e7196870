"""Finds the nodes of a tenant by their names, among those that the caller can see.

A search finds the most recently named nodes first, at most :data:`MAX_HITS` of them, and then sorts
them. So its cost is bounded, for a text that half of the names contain as well, and the total and all
pages are of visible nodes only: nodes that the caller cannot see are dropped before they are counted.

Candidates are read in batches. The permission on a candidate is inherited from the folders around it, so
one query per batch reads the caller's grants on all of them, and :class:`_Folders` resolves them. A
caller who sees few of very many candidates has few nodes: then these are searched instead.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    BigInteger,
    Connection,
    FromClause,
    Select,
    bindparam,
    func,
    literal_column,
    select,
)

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.paging import Paging
from strongroom.database.statements import Statement
from strongroom.files.access import (
    AccessControl,
    NodeAccess,
    NodeView,
    granted_nodes,
    held_permission,
    is_live,
)
from strongroom.files.listing import FilePage
from strongroom.files.models import NODE, Permission, nodes
from strongroom.files.name_index import (
    NameMatch,
    Source,
    contains_text,
    search_names,
    sources,
)
from strongroom.files.node_filters import NodeFilter, NodeOrder, SortKey, conditions
from strongroom.files.serializers import cached_nodes_json, node_json
from strongroom.identity import AnyCaller
from strongroom.tenants.models import Role
from strongroom.users.service import UserService

MAX_HITS: Final = 1000
"""Number of nodes that a search finds at most."""

_BATCH: Final = 4000
"""Number of candidates that are read at once. The caller may see few of them."""

_FEW_NODES: Final = 20_000
"""Number of visible nodes that are searched one by one."""

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


class _Hit(NamedTuple):
    """A found node, and the least permission that the caller has on it.

    Grants on the node itself are only read if the folders around it do not make it visible.
    """

    node: _Candidate
    least: int


def _below(within: bool) -> Any:
    """Return the CTE of the nodes that the caller may see: below a folder, or below all grants."""
    start = select(bindparam("within", type_=nodes.c.id.type).label("id")) if within else granted_nodes()
    below = start.cte("below", recursive=True)
    child = nodes.alias()
    return below.union(select(child.c.id).join(below, child.c.parent_id == below.c.id))


def _few(within: bool) -> Statement[Any]:
    below = _below(within)
    limited = select(below.c.id).limit(literal_column(str(_FEW_NODES + 1))).subquery()
    return Statement(select(func.count()).select_from(limited))


_COUNT_GRANTED: Final = _few(within=False)
_COUNT_WITHIN: Final = _few(within=True)


def _among(within: bool) -> Callable[[str], FromClause]:
    def found(dialect: str) -> FromClause:
        below = _below(within)
        columns = select(search_names.c.number, search_names.c.node_id)
        joined = columns.join(below, below.c.id == search_names.c.node_id)
        return joined.where(contains_text(dialect)).subquery("found")

    return found


_AMONG_GRANTED: Final = _among(within=False)
_AMONG_WITHIN: Final = _among(within=True)


@cache
def _candidates(source: Source, used: frozenset[str], limit: int) -> Statement[_Candidate]:
    """Return the query for the next candidates after the name with the number ``before``."""

    def build(dialect: str) -> Select[Any]:
        found = source(dialect)
        columns = [nodes.c[name] for name in _Candidate._fields[1:]]
        return (
            select(found.c.number, *columns)
            .join(nodes, nodes.c.id == found.c.node_id)
            .where(found.c.number < bindparam("before", type_=BigInteger), is_live(), *conditions(used))
            .order_by(found.c.number.desc())
            .limit(literal_column(str(limit)))
        )

    return Statement(build, _Candidate._make)


def _around() -> Select[Any]:
    wanted = nodes.c.id.in_(bindparam("folder_ids", expanding=True))
    around = select(nodes.c.id, nodes.c.parent_id).where(wanted).cte("around", recursive=True)
    parent = nodes.alias()
    step = select(parent.c.id, parent.c.parent_id).join(around, parent.c.id == around.c.parent_id)
    # UNION removes duplicates: most folders are around many of the candidates.
    around = around.union(step)
    return select(around.c.id, around.c.parent_id, held_permission(around.c.id))


_AROUND: Final = Statement(_around(), tuple)
_IS_WANTED: Final = nodes.c.id.in_(bindparam("ids", expanding=True))
_HELD: Final = Statement(select(nodes.c.id, held_permission(nodes.c.id)).where(_IS_WANTED), tuple)
_WHOLE: Final = Statement(select(nodes).where(_IS_WANTED), NODE)


class _Folders:
    """The caller's permissions on the folders around some nodes.

    Args:
        rows: the id, the parent and the caller's own grant of the folders and of all folders around
            them.
        within: a folder.
    """

    def __init__(self, rows: Iterable[Sequence[Any]], within: str | None) -> None:
        self._rows = {row[0]: (row[1], row[2] or 0) for row in rows}
        self._within = within
        self._known: dict[str | None, tuple[int, bool]] = {None: (0, False)}

    def resolve(self, folder_id: str | None) -> tuple[int, bool]:
        """Return the permission on a folder, and whether it is ``within`` or below it."""
        path = []
        while folder_id not in self._known:
            path.append(folder_id)
            # A folder that was removed since has no row, on PostgreSQL.
            folder_id = self._rows.get(folder_id or "", (None, 0))[0]
        found = self._known[folder_id]
        for item in reversed(path):
            held = self._rows.get(item or "", (None, 0))[1]
            found = self._known[item] = (max(found[0], held), found[1] or item == self._within)
        return found


@dataclass(frozen=True, slots=True)
class _Scope:
    """The part of a tenant that a search may find.

    Args:
        is_admin: whether the caller manages all nodes.
        within: the only folder whose content is found, if any.
        includes_folder: whether that folder itself is found, too.
        ceiling: the highest permission that the caller can have.
    """

    is_admin: bool
    within: str | None
    includes_folder: bool
    ceiling: Permission

    @property
    def is_everything(self) -> bool:
        """Whether all nodes of the tenant are found."""
        return self.is_admin and self.within is None

    def inherited(self, node: _Candidate, folders: _Folders) -> int | None:
        """Return the permission that folders around a node give; ``None`` if it is not in the scope."""
        inherited, is_within = folders.resolve(node.parent_id)
        is_folder = self.includes_folder and node.id == self.within
        if self.within is not None and not (is_within or is_folder):
            return None
        return int(Permission.MANAGE) if self.is_admin else inherited


class FileSearch:
    """Searches for files and folders by name."""

    def __init__(
        self, database: Database, clock: Clock, access: AccessControl, users: UserService
    ) -> None:
        self._database = database
        self._clock = clock
        self._access = access
        self._users = users

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
            match = NameMatch(tenant_id, wanted.text)
            parameters = {
                **match.parameters,
                **wanted.filter.parameters,
                "user_id": caller.user_id,
                "now": self._clock.now(),
                "within": scope.within,
            }
            found = sources(connection, match)
            hits = _hits(connection, scope, found, wanted.filter.used, parameters)
            _sort(hits, wanted.order)
            page = hits[paging.offset : paging.offset + paging.size]
            owners = self._users.summaries(connection, {hit.node.owner_id for hit in page})
            views = _permissions(connection, scope, page, parameters)
            return FilePage(len(hits), paging, _records(connection, views), owners)

    def _scope(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, parent_id: str | None
    ) -> _Scope | None:
        """Return the scope of a search; ``None`` if the caller can see nothing."""
        access: NodeAccess = self._access.find(connection, caller, tenant_id, parent_id)
        access.require_member()
        is_admin = access.role is Role.ADMIN
        if parent_id is not None:
            access.require_folder(Permission.READ)
            return _Scope(is_admin, parent_id, includes_folder=False, ceiling=access.ceiling)
        limit = access.folder_id
        if limit is not None:
            # The query knows whether the caller, such as an access key, reaches its folder.
            limited = self._access.find(connection, caller, tenant_id, limit)
            if limited.node is None or limited.permission < Permission.READ:
                return None
        return _Scope(is_admin, limit, includes_folder=True, ceiling=access.ceiling)


def _hits(
    connection: Connection,
    scope: _Scope,
    unread: Sequence[Source],
    used: frozenset[str],
    parameters: dict[str, Any],
) -> list[_Hit]:
    """Return the most recently named nodes that match and are in the scope."""
    hits: list[_Hit] = []
    # If the caller sees most of the candidates, the first batch is enough.
    batch, before = MAX_HITS, _ENDLESS
    while unread and len(hits) < MAX_HITS:
        statement = _candidates(unread[0], used, batch)
        found = statement.all(connection, {**parameters, "before": before})
        hits += _visible(connection, scope, found, parameters)
        if len(found) < batch:
            unread = unread[1:]
            continue
        if before == _ENDLESS and len(hits) < MAX_HITS:
            unread = _smaller(connection, scope, parameters) or unread
        batch, before = _BATCH, found[-1].number
    return hits[:MAX_HITS]


def _smaller(
    connection: Connection, scope: _Scope, parameters: dict[str, Any]
) -> Sequence[Source] | None:
    """Return the nodes in the scope as the only source if they are few."""
    within = scope.within is not None
    if scope.is_everything:
        return None
    count = _COUNT_WITHIN if within else _COUNT_GRANTED
    if count.scalar(connection, parameters) > _FEW_NODES:
        return None
    return [_AMONG_WITHIN if within else _AMONG_GRANTED]


def _visible(
    connection: Connection, scope: _Scope, found: Sequence[_Candidate], parameters: dict[str, Any]
) -> list[_Hit]:
    if scope.is_everything:
        return [_Hit(node, int(Permission.MANAGE)) for node in found]
    ids = {node.parent_id for node in found}
    rows = _AROUND.all(connection, {**parameters, "folder_ids": list(ids)}) if ids else []
    folders = _Folders(rows, scope.within)
    levels = ((node, scope.inherited(node, folders)) for node in found)
    inside = [_Hit(node, level) for node, level in levels if level is not None]
    held = _held(connection, [hit.node.id for hit in inside if not hit.least], parameters)
    hits = (_Hit(hit.node, max(hit.least, held.get(hit.node.id, 0))) for hit in inside)
    return [hit for hit in hits if hit.least >= Permission.READ]


def _held(connection: Connection, ids: list[str], parameters: dict[str, Any]) -> dict[str, int]:
    """Return the caller's own grants on nodes by id."""
    return dict(_HELD.all(connection, {**parameters, "ids": ids})) if ids else {}


class _Permitted(NamedTuple):
    node: _Candidate
    permission: Permission


def _permissions(
    connection: Connection, scope: _Scope, page: Sequence[_Hit], parameters: dict[str, Any]
) -> list[_Permitted]:
    """Return the caller's permission on each node of a page."""
    uncertain = [hit.node.id for hit in page if hit.least < Permission.MANAGE]
    held = _held(connection, uncertain, parameters)
    return [
        _Permitted(hit.node, Permission(min(max(hit.least, held.get(hit.node.id, 0)), scope.ceiling)))
        for hit in page
    ]


_SORT_VALUES: Final[dict[SortKey, Callable[[_Candidate], Any]]] = {
    SortKey.NAME: lambda node: (node.name, node.id),
    SortKey.UPDATED_AT: lambda node: (node.updated_at, node.name, node.id),
    SortKey.SIZE: lambda node: (node.size, node.name, node.id),
    SortKey.TYPE: lambda node: (node.type, node.name, node.id),
}


def _sort(hits: list[_Hit], order: NodeOrder) -> None:
    value = _SORT_VALUES[order.key]
    hits.sort(key=lambda hit: value(hit.node), reverse=order.descending)


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
