"""Maintains ``parent_visible_until`` of users' grants: when their access to a node's ancestors expires.

Whether a node is top-level for a user depends on all its ancestors, and on the user's groups. Lists are
read much more often than grants, groups and folders change, so each grant of a user stores the result,
and changes update it. Grants to groups store nothing: there are few of them, and each of their members
would need another result (:mod:`strongroom.content.nodes.group_visibility`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    CompoundSelect,
    Connection,
    Select,
    Subquery,
    Table,
    Update,
    bindparam,
    case,
    func,
    literal_column,
    null,
    select,
    union_all,
    update,
)

from strongroom.content.nodes.grant_copies import SOURCES
from strongroom.content.nodes.models import FOREVER, folders_around, grants, group_grants, nodes, subtree
from strongroom.content.tenants.groups.members import is_in_group, members_by_group
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.statements import Statement

_BATCH: Final = 500


def _end(table: Table) -> ColumnElement[int]:
    return func.coalesce(table.c.expires_at, FOREVER)


def _until_of_user() -> Select[Any]:
    path = folders_around()
    # Correlated subqueries per folder keep the planner from scanning all grants of the user.
    own = select(_end(grants)).where(
        grants.c.node_id == path.c.id, grants.c.user_id == bindparam("user_id")
    )
    of_groups = select(func.max(_end(group_grants))).where(
        group_grants.c.node_id == path.c.id, is_in_group(group_grants.c.group_id)
    )
    ends = (func.coalesce(until.scalar_subquery(), literal_column("0")) for until in (own, of_groups))
    return select(func.max(greatest(*ends))).select_from(path)


def _untils_query(table: Table, holder: ColumnElement[str], is_group: int) -> Select[Any]:
    path = folders_around()
    until = func.max(_end(table)).label("until")
    kind: ColumnElement[int] = literal_column(str(is_group))
    columns: list[ColumnElement[Any]] = [kind.label("is_group"), holder.label("holder"), until]
    return select(*columns).join_from(table, path, table.c.node_id == path.c.id).group_by(holder)


def _until_of_all() -> CompoundSelect[Any]:
    return union_all(
        _untils_query(grants, grants.c.user_id, 0),
        _untils_query(group_grants, group_grants.c.group_id, 1),
    )


def _all_below() -> Select[Any]:
    below = subtree(nodes.c.parent_id == bindparam("node_id"))
    # The limit stops the recursion early in large subtrees.
    return select(below.c.id).limit(bindparam("at_most"))


def _hiding() -> Update:
    below = subtree()
    is_shown = grants.c.parent_visible_until.is_not(None)
    hidden = update(grants).values(parent_visible_until=null())
    return hidden.where(grants.c.node_id.in_(select(below.c.id)), is_shown)


def _users_within() -> Select[Any]:
    below = subtree()
    return select(grants.c.user_id).join(below, grants.c.node_id == below.c.id).distinct()


def _refresh(condition: ColumnElement[bool]) -> Statement[Any]:
    """Return the statement that recomputes ``parent_visible_until`` of the selected grants.

    It is built when it is first executed, because building takes longer than importing this module.
    """
    return Statement(lambda _: _refreshed(condition))


def _refreshed(condition: ColumnElement[bool]) -> Update:
    # The values of a node are copied when it becomes top-level.
    copies = [source.label(name) for name, source in SOURCES.items()]
    selected = (
        select(grants.c.node_id, grants.c.user_id, nodes.c.parent_id.label("folder_id"), *copies)
        .join(nodes, nodes.c.id == grants.c.node_id)
        # Grants in the trash stay hidden.
        .where(condition, nodes.c.trash_id.is_(None))
        .cte("selected")
    )
    folders = _seen_folders(selected)
    is_in_folder = (folders.c.folder_id == selected.c.folder_id) & (
        folders.c.user_id == selected.c.user_id
    )
    seen = select(selected, folders.c.until).join(folders, is_in_folder).subquery("seen")
    # Only rows whose value changes are written.
    return (
        update(grants)
        .values({name: seen.c[name] for name in SOURCES})
        .values(parent_visible_until=func.nullif(seen.c.until, FOREVER))
        .where(
            grants.c.node_id == seen.c.node_id,
            grants.c.user_id == seen.c.user_id,
            func.coalesce(grants.c.parent_visible_until, FOREVER) != seen.c.until,
        )
    )


def _seen_folders(selected: CTE) -> Subquery:
    """Return until when the users of the selected grants see the folders around them."""
    # One row per folder with selected grants of a user, and per ancestor, from the folder up to the
    # root: the nodes in a folder share the result.
    columns = (selected.c.folder_id, selected.c.user_id, selected.c.folder_id.label("parent_id"))
    path = select(*columns).distinct().cte("path", recursive=True)
    around, grant_rows = nodes.alias(), grants.alias()
    path = path.union_all(
        select(path.c.folder_id, path.c.user_id, around.c.parent_id)
        .join(path, around.c.id == path.c.parent_id)
        .where(around.c.parent_id.is_not(None))
    )
    shared = group_grants.alias()
    # The outer joins keep ancestors without a grant: they count as 0, so every grant gets a result.
    lasts = [
        case((table.c.node_id.is_(None), 0), else_=func.coalesce(table.c.expires_at, FOREVER))
        for table in (grant_rows, shared)
    ]
    in_group = is_in_group(shared.c.group_id, path.c.user_id)
    return (
        select(path.c.folder_id, path.c.user_id, func.max(greatest(*lasts)).label("until"))
        .outerjoin(
            grant_rows,
            (grant_rows.c.node_id == path.c.parent_id) & (grant_rows.c.user_id == path.c.user_id),
        )
        .outerjoin(shared, (shared.c.node_id == path.c.parent_id) & in_group)
        .group_by(path.c.folder_id, path.c.user_id)
        .subquery("folders")
    )


# Built at the first execution, as in :func:`_refresh`.
_UNTIL_OF_USER: Final = Statement(lambda _: _until_of_user())
_UNTIL_OF_ALL: Final = Statement(lambda _: _until_of_all())
_BELOW: Final = Statement(lambda _: _all_below())

_HIDE: Final = Statement(lambda _: _hiding())
_USERS_WITHIN: Final = Statement(lambda _: _users_within())

_REFRESH_ON: Final = _refresh(grants.c.node_id == bindparam("node"))
_REFRESH_BELOW: Final = _refresh(
    grants.c.user_id.in_(bindparam("users", expanding=True))
    & grants.c.node_id.in_(bindparam("nodes", expanding=True))
)
_REFRESH_WITHIN: Final = _refresh(
    grants.c.user_id.in_(bindparam("users", expanding=True))
    & grants.c.node_id.in_(select(subtree().c.id))
)
_THEIRS: Final = grants.c.user_id.in_(bindparam("users", expanding=True)) & (
    grants.c.tenant_id == bindparam("tenant")
)
# If an ancestor's expiry is extended, only grants with an earlier value can change. If it is shortened,
# only grants whose value was the previous expiry can.
_REFRESH_ENDLESS: Final = _refresh(_THEIRS & grants.c.parent_visible_until.is_(None))
_REFRESH_UNTIL: Final = _refresh(_THEIRS & (grants.c.parent_visible_until == bindparam("before")))
_REFRESH_SHORTER: Final = _refresh(_THEIRS & (grants.c.parent_visible_until < bindparam("now")))

_TOP_LEVEL: Final = Statement(
    select(grants.c.node_id).where(
        grants.c.user_id == bindparam("user"),
        grants.c.tenant_id == bindparam("tenant"),
        grants.c.parent_visible_until.is_not(None),
    )
)
_ENDS_OF_GROUP: Final = Statement(
    select(_end(group_grants)).where(group_grants.c.group_id == bindparam("group_id")).distinct()
)

Change = tuple[int, int]
"""When a node's visibility expired before the change, and when it does now."""


@dataclass(frozen=True, slots=True)
class Untils:
    """When the grants of users, and of groups, on a node and its ancestors expire, by their ids."""

    users: dict[str, int] = field(default_factory=dict)
    groups: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False, repr=False)
class Visibility:
    """Updates ``parent_visible_until`` of :data:`grants` within the caller's transaction.

    Args:
        descend_at_most: maximum number of descendants of a changed node to update one by one. Above
            that, all grants of the affected users that the change may concern are recomputed.
    """

    _descend_at_most: int = 1000

    def until(self, connection: Connection, node_id: str, user_id: str) -> int:
        """Return when a user's grants on a node and its ancestors expire; 0 without any."""
        parameters = {"node_id": node_id, "user_id": user_id}
        return _UNTIL_OF_USER.scalar(connection, parameters) or 0

    def untils(self, connection: Connection, node_id: str) -> Untils:
        """Return when the grants on a node and its ancestors expire, for each user and each group."""
        untils = Untils()
        for is_group, holder, until in _UNTIL_OF_ALL.all(connection, {"node_id": node_id}):
            (untils.groups if is_group else untils.users)[holder] = until
        return untils

    def refresh(
        self, connection: Connection, tenant_id: str, node_id: str, changes: Mapping[str, Change]
    ) -> None:
        """Update the grants below a node whose visibility has changed for some users.

        Args:
            connection: the transaction that made the change.
            tenant_id: the node's tenant.
            changes: the change of visibility for each user.
        """
        # Most changes of a grant do not change the visibility.
        changes = {user: change for user, change in changes.items() if change[0] != change[1]}
        below = self._below(connection, node_id) if changes else []
        if below is None:
            users_of = defaultdict(list)
            for user_id, change in changes.items():
                users_of[change].append(user_id)
            for change, users in users_of.items():
                self._refresh_all(connection, tenant_id, users, change)
        elif below:
            for batch in _batches(list(changes)):
                _REFRESH_BELOW.execute(connection, {"users": batch, "nodes": below})

    def changed(self, connection: Connection, tenant_id: str, node_id: str, before: Untils) -> None:
        """Update the grants below a node after any change of the grants on it and its ancestors.

        Args:
            connection: the transaction that made the change.
            tenant_id: the node's tenant.
            before: the result of :meth:`untils` before the change.
        """
        now = self.untils(connection, node_id)
        if now != before:
            self.refresh(connection, tenant_id, node_id, _changes(connection, before, now))

    def moved(self, connection: Connection, tenant_id: str, node_id: str, before: Untils | None) -> None:
        """Update the grants on a node that has moved, and below it; see :meth:`changed`.

        ``before`` is ``None`` for a file, which has nothing below it.
        """
        _REFRESH_ON.execute(connection, {"node": node_id})
        if before is not None:
            self.changed(connection, tenant_id, node_id, before)

    def joined(
        self, connection: Connection, tenant_id: str, group_id: str, user_ids: Sequence[str]
    ) -> None:
        """Update the grants of users who have joined a group."""
        ends = self._ends_of_group(connection, group_id)
        if ends:
            self._refresh_all(connection, tenant_id, user_ids, (0, max(ends)))

    def left(
        self, connection: Connection, tenant_id: str, group_id: str, user_ids: Sequence[str]
    ) -> None:
        """Update the grants of users who have left a group, whose grants still exist."""
        for end in self._ends_of_group(connection, group_id):
            self._refresh_all(connection, tenant_id, user_ids, (end, 0))

    def top_level(self, connection: Connection, tenant_id: str, user_id: str) -> Sequence[str]:
        """Return the nodes with a grant to a user that are, or may become, top-level for the user."""
        return _TOP_LEVEL.scalars(connection, {"tenant": tenant_id, "user": user_id})

    def refresh_on(self, connection: Connection, user_id: str, node_ids: Sequence[str]) -> None:
        """Recompute the grants of a user on some nodes."""
        _REFRESH_BELOW.execute(connection, {"users": [user_id], "nodes": node_ids})

    def _ends_of_group(self, connection: Connection, group_id: str) -> Sequence[int]:
        """Return the different expiries of the grants of a group."""
        return _ENDS_OF_GROUP.scalars(connection, {"group_id": group_id})

    def _refresh_all(
        self, connection: Connection, tenant_id: str, user_ids: Sequence[str], change: Change
    ) -> None:
        """Update the grants of users in a tenant that a change of visibility may affect."""
        statement, times = _refresh_of_all(*change)
        for batch in _batches(user_ids):
            statement.execute(connection, {"users": batch, "tenant": tenant_id, **times})

    def hide(self, connection: Connection, node_id: str) -> None:
        """Hide the grants on a node and below it from top-level lists, because it goes to the trash."""
        _HIDE.execute(connection, {"node_id": node_id})

    def reveal(self, connection: Connection, node_id: str, *, is_folder: bool) -> None:
        """Recompute the grants on a node and below it, because it came back from the trash."""
        _REFRESH_ON.execute(connection, {"node": node_id})
        if not is_folder:
            return
        untils = self.untils(connection, node_id)
        until = _with_members(untils, members_by_group(connection, list(untils.groups)))
        # A permanent grant on the node or above it keeps all grants below hidden, as they are now.
        # That is the common case: the creator of a folder holds most grants in it.
        users = _USERS_WITHIN.scalars(connection, {"node_id": node_id})
        users = [user for user in users if until.get(user) != FOREVER]
        for start in range(0, len(users), _BATCH):
            batch = {"users": users[start : start + _BATCH], "node_id": node_id}
            _REFRESH_WITHIN.execute(connection, batch)

    def _below(self, connection: Connection, node_id: str) -> Sequence[str] | None:
        """Return the ids of all descendants of a node, or ``None`` if there are too many."""
        # One row more than allowed shows that the limit is exceeded.
        rows = _BELOW.all(connection, {"node_id": node_id, "at_most": self._descend_at_most + 1})
        ids = [row[0] for row in rows]
        return ids if len(ids) <= self._descend_at_most else None


def _batches(user_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (user_ids[start : start + _BATCH] for start in range(0, len(user_ids), _BATCH))


def _changes(connection: Connection, before: Untils, now: Untils) -> dict[str, Change]:
    """Return the changes of visibility by user, including the members of groups."""
    members = members_by_group(connection, list(before.groups.keys() | now.groups.keys()))
    befores, nows = (_with_members(untils, members) for untils in (before, now))
    return {user: (befores.get(user, 0), nows.get(user, 0)) for user in befores.keys() | nows.keys()}


def _with_members(untils: Untils, members: Mapping[str, Sequence[str]]) -> dict[str, int]:
    until_of = dict(untils.users)
    for group_id, until in untils.groups.items():
        for user_id in members.get(group_id, ()):
            until_of[user_id] = max(until, until_of.get(user_id, 0))
    return until_of


def _refresh_of_all(before: int, now: int) -> tuple[Statement[Any], dict[str, int]]:
    """Return the statement for all grants of users that the change may affect, and its parameters."""
    if now > before:
        return _REFRESH_SHORTER, {"now": now}
    return (_REFRESH_ENDLESS, {}) if before == FOREVER else (_REFRESH_UNTIL, {"before": before})
