"""When a user's permission on a node expires: the latest expiry of the grants of each level."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, bindparam, case, func, select, true

from strongroom.database.statements import Statement
from strongroom.files.models import FOREVER, Permission, folders_around, grants
from strongroom.tenants.memberships import membership
from strongroom.tenants.models import Role


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


def _ends() -> list[ColumnElement[Any]]:
    """Return one column per level: the latest expiry of the grants that include it; 0 means none."""
    end = func.coalesce(grants.c.expires_at, FOREVER)
    return [
        func.coalesce(func.max(case((grants.c.permission >= int(level), end))), 0).label(level.name)
        for level in (Permission.READ, Permission.WRITE, Permission.MANAGE)
    ]


def _granted_ends() -> Select[Any]:
    path = folders_around()
    # The outer join keeps the planner from starting at the user's grants, which may be many.
    held = (grants.c.node_id == path.c.id) & (grants.c.user_id == bindparam("user_id"))
    return select(*_ends()).select_from(path.outerjoin(grants, held))


def _ends_of_user() -> Select[Any]:
    return _granted_ends().add_columns(select(membership().c.role).scalar_subquery())


def with_granted_ends(query: Select[Any]) -> Select[Any]:
    """Extend the access query by the :class:`Ends` of the user's grants on the node."""
    ends = _granted_ends().subquery("ends")
    return query.add_columns(*ends.c).join(ends, true())


def _ends_by_user() -> Select[Any]:
    path = folders_around()
    query = select(grants.c.user_id, *_ends()).join(path, grants.c.node_id == path.c.id)
    return query.group_by(grants.c.user_id)


_ENDS_OF_USER: Final = Statement(_ends_of_user())
_ENDS_BY_USER: Final = Statement(_ends_by_user())


def ends_of_user(connection: Connection, tenant_id: str, node_id: str, user_id: str) -> Ends:
    """Return when a user's permission on a node expires, for each level."""
    parameters = {"tenant_id": tenant_id, "node_id": node_id, "user_id": user_id}
    *ends, role = _ENDS_OF_USER.all(connection, parameters)[0]
    # A role does not expire.
    return ENDLESS if role == Role.ADMIN else Ends(*ends)


def ends_by_user(connection: Connection, node_id: str) -> dict[str, Ends]:
    """Do the same for each user who has a grant on the node or on one of its ancestors."""
    rows = _ENDS_BY_USER.all(connection, {"node_id": node_id})
    return {user_id: Ends(*ends) for user_id, *ends in rows}
