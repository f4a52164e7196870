"""Maintains ``parent_visible_until`` of grants: when a user's grants on a node's ancestors expire.

Whether a node is top-level for a user depends on all its ancestors. Lists are read much more often than
grants and folders change, so each grant stores the result, and changes update it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    Select,
    Update,
    bindparam,
    case,
    func,
    null,
    select,
    update,
)

from strongroom.database.statements import Statement
from strongroom.files.models import FOREVER, folders_around, grants, nodes

_BATCH: Final = 500


def _until_of_user() -> Select[Any]:
    path = folders_around()
    # A correlated subquery per folder keeps the planner from scanning all grants of the user.
    until = select(func.coalesce(grants.c.expires_at, FOREVER)).where(
        grants.c.node_id == path.c.id, grants.c.user_id == bindparam("user_id")
    )
    return select(func.max(until.scalar_subquery())).select_from(path)


def _until_of_all() -> Select[Any]:
    path = folders_around()
    until = func.max(func.coalesce(grants.c.expires_at, FOREVER)).label("until")
    query = select(grants.c.user_id, until).join(path, grants.c.node_id == path.c.id)
    return query.group_by(grants.c.user_id)


def _all_below() -> Select[Any]:
    below = select(nodes.c.id).where(nodes.c.parent_id == bindparam("node_id")).cte(recursive=True)
    child = nodes.alias()
    # The limit stops the recursion early in large subtrees.
    below = below.union_all(select(child.c.id).join(below, child.c.parent_id == below.c.id))
    return select(below.c.id).limit(bindparam("at_most"))


def _within() -> CTE:
    below = select(nodes.c.id).where(nodes.c.id == bindparam("node_id")).cte(recursive=True)
    child = nodes.alias()
    return below.union_all(select(child.c.id).join(below, child.c.parent_id == below.c.id))


def _hiding() -> Update:
    below = _within()
    is_shown = grants.c.parent_visible_until.is_not(None)
    hidden = update(grants).values(parent_visible_until=null())
    return hidden.where(grants.c.node_id.in_(select(below.c.id)), is_shown)


def _users_within() -> Select[Any]:
    below = _within()
    return select(grants.c.user_id).join(below, grants.c.node_id == below.c.id).distinct()


def _refresh(wanted: ColumnElement[bool]) -> Statement[Any]:
    """Return the statement that recomputes ``parent_visible_until`` of the selected grants.

    It is built when it is first executed, because building takes longer than importing this module.
    """
    return Statement(lambda _: _refreshed(wanted))


def _refreshed(wanted: ColumnElement[bool]) -> Update:
    # One row per ancestor of each selected grant's node, from the parent up to the root.
    path = (
        select(grants.c.node_id, grants.c.user_id, nodes.c.parent_id)
        .join(nodes, nodes.c.id == grants.c.node_id)
        # Grants in the trash stay hidden.
        .where(wanted, nodes.c.trash_id.is_(None))
        .cte("path", recursive=True)
    )
    around, held = nodes.alias(), grants.alias()
    path = path.union_all(
        select(path.c.node_id, path.c.user_id, around.c.parent_id)
        .join(path, around.c.id == path.c.parent_id)
        .where(around.c.parent_id.is_not(None))
    )
    # The outer join keeps ancestors without a grant: they count as 0, so every grant gets a result.
    lasts = case((held.c.node_id.is_(None), 0), else_=func.coalesce(held.c.expires_at, FOREVER))
    seen = (
        select(path.c.node_id, path.c.user_id, func.max(lasts).label("until"))
        .outerjoin(held, (held.c.node_id == path.c.parent_id) & (held.c.user_id == path.c.user_id))
        .group_by(path.c.node_id, path.c.user_id)
        .subquery()
    )
    # Only rows whose value changes are written.
    return (
        update(grants)
        .values(parent_visible_until=func.nullif(seen.c.until, FOREVER))
        .where(
            grants.c.node_id == seen.c.node_id,
            grants.c.user_id == seen.c.user_id,
            func.coalesce(grants.c.parent_visible_until, FOREVER) != seen.c.until,
        )
    )


_UNTIL_OF_USER: Final = Statement(_until_of_user())
_UNTIL_OF_ALL: Final = Statement(_until_of_all())
_BELOW: Final = Statement(_all_below())

_HIDE: Final = Statement(_hiding())
_USERS_WITHIN: Final = Statement(_users_within())

_REFRESH_ON: Final = _refresh(grants.c.node_id == bindparam("node"))
_REFRESH_BELOW: Final = _refresh(
    grants.c.user_id.in_(bindparam("users", expanding=True))
    & grants.c.node_id.in_(bindparam("nodes", expanding=True))
)
_REFRESH_WITHIN: Final = _refresh(
    grants.c.user_id.in_(bindparam("users", expanding=True))
    & grants.c.node_id.in_(select(_within().c.id))
)
_THEIRS: Final = (grants.c.user_id == bindparam("user")) & (grants.c.tenant_id == bindparam("tenant"))
# If an ancestor's expiry is extended, only grants with an earlier value can change. If it is shortened,
# only grants whose value was the previous expiry can.
_REFRESH_ENDLESS: Final = _refresh(_THEIRS & grants.c.parent_visible_until.is_(None))
_REFRESH_UNTIL: Final = _refresh(_THEIRS & (grants.c.parent_visible_until == bindparam("before")))
_REFRESH_SHORTER: Final = _refresh(_THEIRS & (grants.c.parent_visible_until < bindparam("now")))

Change = tuple[int, int]
"""When a node's visibility expired before the change, and when it does now."""


class Visibility:
    """Updates ``parent_visible_until`` of :data:`grants` within the caller's transaction.

    Args:
        descend_at_most: maximum number of descendants of a changed node to update one by one. Above
            that, all grants of the affected users that the change may concern are recomputed.
    """

    def __init__(self, descend_at_most: int = 1000) -> None:
        self._descend_at_most = descend_at_most

    def until(self, connection: Connection, node_id: str, user_id: str) -> int:
        """Return when a user's grants on a node and its ancestors expire; 0 without any."""
        parameters = {"node_id": node_id, "user_id": user_id}
        return _UNTIL_OF_USER.scalar(connection, parameters) or 0

    def until_by_user(self, connection: Connection, node_id: str) -> dict[str, int]:
        """Return :meth:`until` for each user who has such a grant."""
        return dict(_UNTIL_OF_ALL.all(connection, {"node_id": node_id}))

    def refresh(
        self, connection: Connection, tenant_id: str, node_id: str, changes: Mapping[str, Change]
    ) -> None:
        """Update the grants below a node whose visibility has changed for some users.

        Args:
            connection: the transaction that made the change.
            tenant_id: the node's tenant.
            node_id: the node.
            changes: the change of visibility for each user.
        """
        # Most changes of a grant do not change the visibility.
        changes = {user: change for user, change in changes.items() if change[0] != change[1]}
        below = self._below(connection, node_id) if changes else []
        if below is None:
            for user_id, (before, now) in changes.items():
                statement, times = _refresh_of_all(before, now)
                statement.execute(connection, {"user": user_id, "tenant": tenant_id, **times})
        elif below:
            users = list(changes)
            for start in range(0, len(users), _BATCH):
                batch = users[start : start + _BATCH]
                _REFRESH_BELOW.execute(connection, {"users": batch, "nodes": below})

    def moved(
        self, connection: Connection, tenant_id: str, node_id: str, before: Mapping[str, int]
    ) -> None:
        """Update the grants on a node that has moved, and below it.

        Args:
            connection: the transaction that moved the node.
            tenant_id: its tenant.
            node_id: the node.
            before: the result of :meth:`until_by_user` before the move.
        """
        _REFRESH_ON.execute(connection, {"node": node_id})
        now = self.until_by_user(connection, node_id)
        changes = {user: (before.get(user, 0), now.get(user, 0)) for user in before.keys() | now.keys()}
        self.refresh(connection, tenant_id, node_id, changes)

    def hide(self, connection: Connection, node_id: str) -> None:
        """Hide the grants on a node and below it from top-level lists, because it goes to the trash."""
        _HIDE.execute(connection, {"node_id": node_id})

    def reveal(self, connection: Connection, node_id: str) -> None:
        """Recompute the grants on a node and below it, because it came back from the trash."""
        _REFRESH_ON.execute(connection, {"node": node_id})
        until = self.until_by_user(connection, node_id)
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
        found = _BELOW.all(connection, {"node_id": node_id, "at_most": self._descend_at_most + 1})
        ids = [row[0] for row in found]
        return ids if len(ids) <= self._descend_at_most else None


def _refresh_of_all(before: int, now: int) -> tuple[Statement[Any], dict[str, int]]:
    """Return the statement for all grants of a user that the change may affect, and its parameters."""
    if now > before:
        return _REFRESH_SHORTER, {"now": now}
    return (_REFRESH_ENDLESS, {}) if before == FOREVER else (_REFRESH_UNTIL, {"before": before})
