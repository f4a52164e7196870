"""When a permission on a node expires: the latest expiry of the grants of each level."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Connection,
    Select,
    Table,
    bindparam,
    case,
    func,
    literal_column,
    select,
    true,
    union_all,
)

from strongroom.content.nodes.models import FOREVER, Permission, folders_around, grants, group_grants
from strongroom.content.tenants.groups.members import is_in_group
from strongroom.content.tenants.memberships import membership
from strongroom.content.tenants.models import Role
from strongroom.foundation.database.functions import greatest
from strongroom.foundation.database.statements import Statement


@dataclass(frozen=True, slots=True)
class Ends:
    """Expiry of each permission level of a user on a node, in milliseconds since the Unix epoch.

    0 means that the level was never granted, :data:`FOREVER` that it does not expire. An expiry may be
    in the past.
    """

    read: int = 0
    write: int = 0
    manage: int = 0

    def exceed(self, others: "Ends") -> bool:
        """Return whether a level expires later than the same level of the others."""
        return self.read > others.read or self.write > others.write or self.manage > others.manage


ENDLESS: Final = Ends(FOREVER, FOREVER, FOREVER)
"""The expiries of tenant administrators: a role does not expire."""


_LEVELS: Final = (Permission.READ, Permission.WRITE, Permission.MANAGE)


def _latest(table: Table, level: Permission) -> ColumnElement[int]:
    """Return the latest expiry of the grants that include a level; 0 means none."""
    end = func.coalesce(table.c.expires_at, FOREVER)
    return func.coalesce(func.max(case((table.c.permission >= int(level), end))), literal_column("0"))


def _granted_ends() -> Select[Any]:
    path = folders_around()
    # The outer joins keep the planner from starting at the user's grants, which may be many. The rows
    # of both tables are combined per folder, which does not change a maximum.
    own = (grants.c.node_id == path.c.id) & (grants.c.user_id == bindparam("user_id"))
    of_groups = (group_grants.c.node_id == path.c.id) & is_in_group(group_grants.c.group_id)
    columns: list[ColumnElement[Any]] = [
        greatest(_latest(grants, level), _latest(group_grants, level)).label(level.name)
        for level in _LEVELS
    ]
    tables = path.outerjoin(grants, own).outerjoin(group_grants, of_groups)
    return select(*columns).select_from(tables)


def _ends_of_user() -> Select[Any]:
    return _granted_ends().add_columns(select(membership().c.role).scalar_subquery())


def with_granted_ends(query: Select[Any]) -> Select[Any]:
    """Extend the access query by the :class:`Ends` of the user's permission on the node by grants."""
    ends = _granted_ends().subquery("ends")
    return query.add_columns(*ends.c).join(ends, true())


def _ends_on_path(table: Table, holder: ColumnElement[str]) -> Select[Any]:
    path = folders_around()
    columns: list[ColumnElement[Any]] = [holder.label("holder")]
    columns += [_latest(table, level).label(level.name) for level in _LEVELS]
    return select(*columns).join(path, table.c.node_id == path.c.id).group_by(holder)


def _ends_by_holder() -> CompoundSelect[Any]:
    return union_all(
        _ends_on_path(grants, grants.c.user_id), _ends_on_path(group_grants, group_grants.c.group_id)
    )


_ENDS_OF_USER: Final = Statement(lambda _: _ends_of_user())
_ENDS_BY_HOLDER: Final = Statement(lambda _: _ends_by_holder())


def ends_of_user(connection: Connection, tenant_id: str, node_id: str, user_id: str) -> Ends:
    """Return when a user's permission on a node expires, for each level."""
    parameters = {"tenant_id": tenant_id, "node_id": node_id, "user_id": user_id}
    *ends, role = _ENDS_OF_USER.all(connection, parameters)[0]
    # A role does not expire.
    return ENDLESS if role == Role.ADMIN else Ends(*ends)


def ends_by_holder(connection: Connection, node_id: str) -> dict[str, Ends]:
    """Return the expiries for each user and each group with a grant on the node or on its ancestors.

    The keys are ids of users and of groups. Each has only its own grants: users' grants do not include
    their groups'.
    """
    rows = _ENDS_BY_HOLDER.all(connection, {"node_id": node_id})
    return {holder: Ends(*ends) for holder, *ends in rows}
