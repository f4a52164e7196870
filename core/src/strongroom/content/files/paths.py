"""Finds the node that the names of a path lead to."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    CTE,
    JSON,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    String,
    bindparam,
    cast,
    column,
    func,
    literal,
    select,
    union_all,
)

from strongroom.clock import Clock
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl, NodeView
from strongroom.content.nodes.effective_permission import is_at_top
from strongroom.content.nodes.group_visibility import through_groups
from strongroom.content.nodes.models import grants, nodes
from strongroom.content.nodes.names import normalize_name
from strongroom.content.tenants.memberships import membership
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Forbidden, NotFound


def _names(dialect: str) -> FromClause:
    """Return the rows (number, name) of the parameter ``names``, a JSON array; numbers start at 0."""
    names = bindparam("names", type_=String)
    if dialect == "sqlite":
        return func.json_each(names).table_valued(column("key"), column("value")).alias("names")
    elements = func.json_array_elements_text(cast(names, JSON))
    rows = elements.table_valued(column("value"), with_ordinality="ordinality").render_derived(
        "elements"
    )
    return select((rows.c.ordinality - 1).label("key"), rows.c.value).subquery("names")


def _first() -> ColumnElement[Any]:
    """Return the id of the caller's top-level node with the first name.

    A member may have several of one name, from different folders; the one with the lowest id counts.
    """
    named, of_key = bindparam("first_name", type_=String), bindparam("key_folder", type_=Id)
    role = select(membership().c.role).scalar_subquery()
    managed = select(nodes.c.id).where(
        nodes.c.parent_id == bindparam("tenant_id"), nodes.c.name == named, role == Role.ADMIN.value
    )
    granted = select(grants.c.node_id).where(
        grants.c.user_id == bindparam("user_id"),
        grants.c.tenant_id == bindparam("tenant_id"),
        grants.c.node_name == named,
        is_at_top(bindparam("now")),
        role != Role.ADMIN.value,
    )
    groups = through_groups().subquery("through_groups")
    shared = select(groups.c.node_id).where(groups.c.node_name == named, role != Role.ADMIN.value)
    # The top level of an access key that reaches only a folder is that folder.
    reached = select(nodes.c.id).where(
        nodes.c.id == of_key, nodes.c.tenant_id == bindparam("tenant_id"), nodes.c.name == named
    )
    tops_of = [query.where(of_key.is_(None)) for query in (managed, granted, shared)]
    tops = union_all(*tops_of, reached).subquery("tops")
    # PostgreSQL: min() returns text, and both parts of a recursive query must have the same type.
    return cast(select(func.min(tops.c[0])).scalar_subquery(), Id)


def _nodes_of_path(dialect: str, start: Select[Any]) -> Select[Any]:
    """Return the query for the ids of the nodes on a path by the numbers of their names.

    Args:
        start: the node where the descent begins, and the number of its name.
    """
    names = _names(dialect)
    descent: CTE = start.cte("found", recursive=True)
    # A subquery, because SQLite would join the names to all nodes of the folder.
    name = select(names.c.value).where(names.c.key == descent.c.depth + 1).scalar_subquery()
    step = (
        select(nodes.c.id, descent.c.depth + 1)
        .join(nodes, (nodes.c.parent_id == descent.c.id) & (nodes.c.name == name))
        .select_from(descent)
    )
    descent = descent.union_all(step)
    return select(descent.c.depth, descent.c.id).where(descent.c.depth >= bindparam("first"))


def _from_top(dialect: str) -> Select[Any]:
    return _nodes_of_path(dialect, select(_first().label("id"), literal(0).label("depth")))


def _from_folder(dialect: str) -> Select[Any]:
    folder: ColumnElement[Any] = cast(bindparam("start", type_=Id), Id)
    return _nodes_of_path(dialect, select(folder.label("id"), literal(-1).label("depth")))


_FROM_TOP: Final = Statement(_from_top, tuple)
_FROM_FOLDER: Final = Statement(_from_folder, tuple)


@dataclass(frozen=True, slots=True)
class NodePlace:
    """What has a name in a folder.

    Args:
        node: the node; ``None``: the name is free, as far as the caller can see.
        folder: the folder, if the name is free; ``None``: the top level.
    """

    node: NodeView | None
    folder: NodeView | None = None


@dataclass(slots=True, eq=False, repr=False)
class PathLookup:
    """Finds nodes by the names of their paths, as a user sees them.

    A path begins at the user's top level, or in a folder that the user sees, so that it never contains a
    folder that the user cannot see.
    """

    _database: Database
    _clock: Clock
    _access: AccessControl

    def resolve(
        self, caller: AnyCaller, tenant_id: str, path: Sequence[str], start: str | None = None
    ) -> NodeView:
        """Return the node of a path with the caller's permission: two queries for any length.

        Args:
            start: the folder where the path begins, for a third query; ``None`` is the top level.

        Raises:
            Forbidden: the caller is not a member of the tenant, whether or not it exists.
            NotFound: no node that the caller can see has this path, or ``start`` is not visible.
            ValidationFailed: a name is invalid.
        """
        names, last = [normalize_name(name) for name in path], len(path) - 1
        with self._database.read() as connection:
            if start is not None:
                self._require_visible(connection, caller, tenant_id, start)
            ids = self._ids(connection, caller, tenant_id, names, last, start)
            return self._require_visible(connection, caller, tenant_id, ids.get(last))

    def find_place(self, caller: AnyCaller, tenant_id: str, path: Sequence[str]) -> NodePlace:
        """Return the node of a path, or the folder where it would be: two queries for any length.

        Args:
            path: at least one name.

        Raises:
            Forbidden: the caller is not a member of the tenant, whether or not it exists.
            NotFound: the caller sees no node with the path of the folder.
            ValidationFailed: a name is invalid.
        """
        names, last = [normalize_name(name) for name in path], len(path) - 1
        with self._database.read() as connection:
            ids = self._ids(connection, caller, tenant_id, names, last - 1)
            if (node_id := ids.get(last)) is not None:
                return NodePlace(self._require_visible(connection, caller, tenant_id, node_id))
            if last == 0:
                self._access.find(connection, caller, tenant_id, None).require_member()
                return NodePlace(None)
            folder = self._require_visible(connection, caller, tenant_id, ids.get(last - 1))
            return NodePlace(None, folder)

    def _ids(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        names: Sequence[str],
        first: int,
        start: str | None = None,
    ) -> Mapping[int, str | None]:
        """Return the ids of the nodes on a path from a number on, by their numbers from 0."""
        key = caller.identity.key if caller.identity else None
        parameters = {
            "start": start,
            "tenant_id": tenant_id,
            "user_id": caller.user_id,
            "now": self._clock.now(),
            "key_folder": key.folder_id if key else None,
            "first_name": names[0] if names else "",
            "names": json.dumps(names),
            "first": first,
        }
        query = _FROM_TOP if start is None else _FROM_FOLDER
        return dict(query.all(connection, parameters))

    def _require_visible(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, node_id: str | None
    ) -> NodeView:
        access = self._access.find(connection, caller, tenant_id, node_id)
        access.require_member()
        if node_id is None:
            raise NotFound
        try:
            return access.require(operations.GET)
        except Forbidden as error:
            # The names of nodes outside of the folder of an access key must not be found out.
            raise NotFound from error
