"""Conditions and reads of group memberships, within the caller's transaction."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, bindparam, select

from strongroom.content.tenants.models import group_members, groups
from strongroom.foundation.database.statements import Statement

_MEMBERS: Final = Statement(
    select(group_members.c.group_id, group_members.c.user_id).where(
        group_members.c.group_id.in_(bindparam("groups", expanding=True))
    )
)
_BATCH: Final = 500


def is_in_group(
    group_id: ColumnElement[str], user_id: ColumnElement[str] | None = None
) -> ColumnElement[bool]:
    """Return the condition that a user, by default ``user_id``, a parameter, is in a group."""
    user = bindparam("user_id") if user_id is None else user_id
    members = select(group_members.c.user_id).where(
        group_members.c.group_id == group_id, group_members.c.user_id == user
    )
    return members.correlate_except(group_members).exists()


def groups_of_user() -> Select[Any]:
    """Return the query for the ids of the groups of ``user_id`` in the tenant ``tenant_id``."""
    return select(group_members.c.group_id).where(
        group_members.c.user_id == bindparam("user_id"),
        group_members.c.tenant_id == bindparam("tenant_id"),
    )


def is_in_any_group() -> ColumnElement[bool]:
    """Return the condition that ``user_id`` is in a group of the tenant ``tenant_id``."""
    return groups_of_user().exists()


def group_name(group_id: ColumnElement[str]) -> ColumnElement[str]:
    """Return the SQL expression for the name of a group."""
    name = select(groups.c.name).where(groups.c.id == group_id)
    return name.correlate_except(groups).scalar_subquery()


def by_group_name(query: Select[Any], group_id: ColumnElement[str]) -> Select[Any]:
    """Return a query whose rows are in the natural order of the names of their groups."""
    return query.join(groups, groups.c.id == group_id).order_by(groups.c.sort_key, groups.c.id)


def members_by_group(connection: Connection, group_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the user ids of the members of groups; groups without members are missing."""
    members: dict[str, list[str]] = {}
    for start in range(0, len(group_ids), _BATCH):
        for group_id, user_id in _MEMBERS.all(connection, {"groups": group_ids[start : start + _BATCH]}):
            members.setdefault(group_id, []).append(user_id)
    return members
