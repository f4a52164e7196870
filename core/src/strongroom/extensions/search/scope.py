"""The part of a tenant that a search may find, as conditions for the database.

A caller sees the topmost nodes that have a grant, and everything below them; a search in a folder finds
the nodes below it. Permissions are inherited through folders, so the folders of the scope decide: a
tenant has many fewer folders than files, and an index has the folders alone.

- If the scope has few nodes, their names are read (:func:`names_within`).
- If it has few folders, these are a condition on the candidates (:func:`in_scope`).
- Otherwise most of the candidates are in the scope, and :class:`InheritedPermissions` reads the folders
  around each of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    cast,
    func,
    literal_column,
    select,
)

from strongroom.content.nodes.effective_permission import granted_nodes, granted_permission
from strongroom.content.nodes.models import NodeType, Permission, folder_counts, nodes
from strongroom.content.nodes.name_index import NAME_INDEX, search_names
from strongroom.foundation.cache import BuiltOnce
from strongroom.foundation.database.metadata import Id
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.text_index import Source

MAX_FOLDERS = 2000
"""Number of folders of a scope that one query reads at most."""


class ScopeShape(NamedTuple):
    """The part of a :class:`SearchScope` that determines its statements.

    Args:
        within: whether the scope is a folder; otherwise it is all that the user can see.
        has_topmost: whether the topmost nodes are part of it: the folder, or the nodes with a grant.
    """

    within: bool
    has_topmost: bool


@dataclass(frozen=True, slots=True)
class SearchScope:
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

    @property
    def shape(self) -> ScopeShape:
        """The part that determines the statements."""
        return ScopeShape(self.within is not None, self.within is None or self.includes_folder)


def _topmost(shape: ScopeShape) -> CTE:
    if shape.within:
        return select(bindparam("within", type_=Id).label("id")).cte("topmost")
    return granted_nodes().cte("topmost")


def _folders(topmost: CTE) -> CTE:
    """Return the CTE of the folders among and below some nodes."""
    # Files among them have no content, so their types are not read.
    folders = select(topmost.c.id).cte("folders", recursive=True)
    is_folder = nodes.c.type == literal_column(f"'{NodeType.FOLDER}'")
    child = select(nodes.c.id).join(folders, nodes.c.parent_id == folders.c.id)
    return folders.union(child.where(is_folder))


def _extent(shape: ScopeShape) -> Select[Any]:
    topmost = _topmost(shape)
    folders = _folders(topmost)
    # The limit ends the recursion.
    some = select(folders.c.id).limit(literal_column(str(MAX_FOLDERS + 1))).subquery("some_folders")
    content = select(func.sum(folder_counts.c.children)).where(folder_counts.c.folder_id == some.c.id)
    children = cast(func.coalesce(func.sum(content.scalar_subquery()), 0), BigInteger)
    count = select(func.count()).select_from(topmost).scalar_subquery()
    counts: list[ColumnElement[Any]] = [func.count(), children + count]
    return select(*counts).select_from(some)


@BuiltOnce
def _extent_statement(shape: ScopeShape) -> Statement[Any]:
    return Statement(_extent(shape), tuple)


def extent(connection: Connection, scope: SearchScope, parameters: dict[str, Any]) -> tuple[int, int]:
    """Return the numbers of folders and of nodes in a scope.

    Only the first :data:`MAX_FOLDERS` folders, and one more, are counted.
    """
    folders, count = _extent_statement(scope.shape).all(connection, parameters)[0]
    return folders, count


def in_scope(shape: ScopeShape) -> ColumnElement[bool]:
    """Return the condition that a node is in a scope.

    The parameters are ``user_id``, ``tenant_id`` and ``now``, or ``within``.
    """
    topmost = _topmost(shape)
    # Without a correlation, so both databases evaluate the folders once.
    is_inside = nodes.c.parent_id.in_(select(_folders(topmost).c.id))
    return is_inside | nodes.c.id.in_(select(topmost.c.id)) if shape.has_topmost else is_inside


@BuiltOnce
def names_within(shape: ScopeShape) -> Source:
    """Return the source of matching names that reads the names of all nodes in a scope."""

    def found(dialect: str) -> FromClause:
        topmost = _topmost(shape)
        folders = _folders(topmost)
        content = select(nodes.c.id).join(folders, nodes.c.parent_id == folders.c.id)
        listed: Any = content.union(select(topmost.c.id)) if shape.has_topmost else content
        listed = listed.cte("listed")
        name = select(search_names.c.number).where(
            search_names.c.node_id == listed.c.id, NAME_INDEX.contains_part(dialect)
        )
        # A subquery per node keeps the planner from reading the names of all other nodes.
        columns = (name.scalar_subquery().label("number"), listed.c.id.label("node_id"))
        named = select(*columns).cte("named").prefix_with("MATERIALIZED")
        return select(*named.c).where(named.c.number.is_not(None)).subquery("found")

    return found


def _around() -> Select[Any]:
    wanted = nodes.c.id.in_(bindparam("folder_ids", expanding=True))
    around = select(nodes.c.id, nodes.c.parent_id).where(wanted).cte("around", recursive=True)
    # A subquery per folder keeps PostgreSQL, which expects ten times as many, from reading all nodes.
    parent = nodes.alias()
    parent_id = select(parent.c.parent_id).where(parent.c.id == around.c.parent_id).scalar_subquery()
    step = select(around.c.parent_id, parent_id).where(around.c.parent_id.is_not(None))
    # UNION removes duplicates: most folders are around many of the nodes.
    around = around.union(step)
    return select(around.c.id, around.c.parent_id, granted_permission(around.c.id))


# Built at the first execution, because building takes longer than importing this module.
_AROUND: Final = Statement(lambda _: _around(), tuple)


class InheritedPermissions:
    """The caller's permissions on some folders, inherited from the folders around them.

    Args:
        within: the folder whose content :meth:`resolve` reports.
        parameters: ``user_id``, ``tenant_id`` and ``now``.
    """

    def __init__(
        self,
        connection: Connection,
        folder_ids: Iterable[str],
        within: str | None,
        parameters: dict[str, Any],
    ) -> None:
        ids = list(folder_ids)
        rows = _AROUND.all(connection, {**parameters, "folder_ids": ids}) if ids else []
        self._rows: dict[str | None, Sequence[Any]] = {row[0]: row for row in rows}
        self._within = within
        self._known: dict[str | None, tuple[int, bool]] = {None: (0, False)}

    def resolve(self, folder_id: str | None) -> tuple[int, bool]:
        """Return the permission on a folder, and whether it is ``within`` or below it."""
        path = []
        while folder_id not in self._known:
            path.append(folder_id)
            folder_id = self._row(folder_id)[1]
        found = self._known[folder_id]
        for item in reversed(path):
            held = self._row(item)[2] or 0
            found = self._known[item] = (max(found[0], held), found[1] or item == self._within)
        return found

    def _row(self, folder_id: str | None) -> Sequence[Any]:
        # A folder that was removed since has no row, on PostgreSQL.
        return self._rows.get(folder_id, (folder_id, None, 0))
