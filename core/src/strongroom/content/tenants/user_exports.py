"""What the archive of a user's data has of tenants, groups and invitations."""

from collections.abc import Callable
from typing import Final

from sqlalchemy import BindParameter, Select, bindparam, func, select, tuple_

from strongroom.content.tenants.models import (
    group_members,
    groups,
    invitations,
    tenant_members,
    tenants,
)
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.database.user_rows import UserRows
from strongroom.identity.users.user_exports import credentials_query
from strongroom.plugin_api.exports import UserExport

_OF_USER: Final[BindParameter[str]] = bindparam("of_user")
_MEMBERSHIPS: Final = UserRows(
    select(
        tenants.c.id.label("tenantId"),
        tenants.c.name.label("tenantName"),
        tenant_members.c.role,
        tenant_members.c.created_at.label("createdAt"),
    )
    .join(tenant_members, tenant_members.c.tenant_id == tenants.c.id)
    .where(tenant_members.c.user_id == _OF_USER, tenants.c.deleted_at.is_(None))
    .order_by(tenant_members.c.created_at, tenants.c.id)
)
_GROUPS: Final = UserRows(
    select(
        groups.c.id,
        groups.c.tenant_id.label("tenantId"),
        groups.c.name,
        group_members.c.created_at.label("createdAt"),
    )
    .join(group_members, group_members.c.group_id == groups.c.id)
    .where(group_members.c.user_id == _OF_USER)
    .order_by(group_members.c.created_at, groups.c.id)
)


def _invitations() -> Select[tuple[object, ...]]:
    return (
        select(
            invitations.c.id,
            tenants.c.id.label("tenantId"),
            tenants.c.name.label("tenantName"),
            invitations.c.kind,
            func.coalesce(invitations.c.written, invitations.c.recipient).label("recipient"),
            invitations.c.role,
            invitations.c.created_at.label("createdAt"),
            invitations.c.expires_at.label("expiresAt"),
        )
        .join(tenants, tenants.c.id == invitations.c.tenant_id)
        .where(tenants.c.deleted_at.is_(None))
        .order_by(invitations.c.created_at, invitations.c.id)
    )


_RECEIVED: Final = UserRows(
    _invitations().where(
        tuple_(invitations.c.kind, invitations.c.recipient).in_(credentials_query(_OF_USER))
    )
)
_SENT: Final = UserRows(_invitations().where(invitations.c.invited_by == _OF_USER))


def tenant_exports(database: Database) -> list[UserExport]:
    """Return the files of memberships, and of invitations that are open."""
    return [
        UserExport("memberships", "The spaces that you are a member of", _MEMBERSHIPS.bind(database)),
        UserExport("groups", "The groups that you are in", _GROUPS.bind(database)),
        UserExport(
            "invitations",
            "Open invitations that you received",
            _RECEIVED.bind(database),
            # The invitation shows the same before it is accepted.
            members_only=False,
        ),
        UserExport("sent-invitations", "Open invitations that you sent", _SENT.bind(database)),
    ]


_TENANTS: Final = Statement(
    select(tenants.c.id)
    .join(tenant_members, tenant_members.c.tenant_id == tenants.c.id)
    .where(tenant_members.c.user_id == _OF_USER, tenants.c.deleted_at.is_(None))
)


def tenants_of_member(database: Database) -> Callable[[str], frozenset[str]]:
    """Return a function that reads the ids of the tenants that a user is a member of now."""

    def read(user_id: str) -> frozenset[str]:
        with database.read_one() as connection:
            return frozenset(_TENANTS.scalars(connection, {"of_user": user_id}))

    return read
