"""Grants and revokes permissions on files and folders to groups of the tenant."""

from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, Executable, Select, bindparam, delete, func, select

from strongroom.activity.audit.service import AuditService
from strongroom.clock import Clock
from strongroom.content.files.grants import (
    GroupGrantRequest,
    Summaries,
    audit_details,
    record_grant,
    require_future,
)
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.effective_permission import is_in_force
from strongroom.content.nodes.expiry import ExpiryRules
from strongroom.content.nodes.models import GroupGrant, Node, Permission, group_grants
from strongroom.content.nodes.visibility import Visibility
from strongroom.content.tenants.groups.members import by_group_name, group_name
from strongroom.content.tenants.groups.service import GroupMemberships
from strongroom.content.tenants.models import Group
from strongroom.foundation.caller import AnyCaller, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.rows import Row, RowMapper
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import ValidationFailed
from strongroom.identity.users.service import UserService

_COLUMNS: Final = (
    group_grants.c.node_id,
    group_grants.c.group_id,
    group_name(group_grants.c.group_id).label("group_name"),
    group_grants.c.permission,
    group_grants.c.expires_at,
    group_grants.c.granted_by,
    group_grants.c.created_at,
)
_GRANT: Final = RowMapper(GroupGrant, _COLUMNS)
_IS_ONE: Final = (group_grants.c.node_id == bindparam("node")) & (
    group_grants.c.group_id == bindparam("group")
)
_REPLACED = ("permission", "expires_at", "granted_by", "created_at")


def _grant(row: Row) -> GroupGrant:
    grant = _GRANT(row)
    return replace(grant, permission=Permission(grant.permission))


def _putting(insert: Any) -> Executable:
    replaced = {name: insert.excluded[name] for name in _REPLACED}
    keys = [group_grants.c.node_id, group_grants.c.group_id]
    putting: Executable = insert.on_conflict_do_update(index_elements=keys, set_=replaced)
    return putting


_PUT: Final = Statement(for_each_dialect(group_grants, _putting))
_FIND: Final = Statement(select(*_COLUMNS).where(_IS_ONE), _grant)
_REMOVE: Final = Statement(delete(group_grants).where(_IS_ONE))


@dataclass(slots=True, eq=False, repr=False)
class GroupGrantService:
    """Creates, lists and revokes grants to groups, for callers who manage the node."""

    _database: Database
    _clock: Clock
    _access: AccessControl
    _expiry: ExpiryRules
    _visibility: Visibility
    _groups: GroupMemberships
    _users: UserService
    _audit: AuditService

    def put(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        requested: GroupGrantRequest,
        origin: Origin,
    ) -> tuple[GroupGrant, bool]:
        """Grant a group a permission; this replaces the group's grant on the same node.

        Return the grant, and whether it is new: no grant was in force before.

        Raises:
            ValidationFailed: the expiry is not in the future, or the tenant has no such group.
            Forbidden: the caller is not a member of the tenant, does not manage the node, or the grant
                would outlast the caller's permission.
            NotFound: the tenant has no such node.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            return self.put_within(connection, caller, tenant_id, node_id, requested, origin)

    def put_within(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        requested: GroupGrantRequest,
        origin: Origin,
    ) -> tuple[GroupGrant, bool]:
        """Do the same as :meth:`put` in the caller's transaction, which holds the tenant lock."""
        require_future(requested.expires_at, self._clock.now())
        node = self._access.require(connection, caller, tenant_id, node_id, operations.GRANT).node
        group = self._group(connection, tenant_id, requested.group_id)
        before = _FIND.first(connection, {"node": node_id, "group": group.id})
        end = self._expiry.grant_end(connection, caller, node, requested, before)
        requested = replace(requested, expires_at=end)
        grant = self._write(connection, caller, node, group, requested)
        details = {"tenant": tenant_id, "group": group.id, **audit_details(requested)}
        record_grant(self._audit, connection, "group-grant.put", caller, node_id, origin, details)
        return grant, before is None or not self._access.is_unexpired(before.expires_at)

    def remove(
        self, caller: AnyCaller, tenant_id: str, node_id: str, group_id: str, origin: Origin
    ) -> None:
        """Revoke a group's grant on a node; a missing grant is not an error.

        Raises:
            Forbidden: the caller is not a member of the tenant, or does not manage the node.
            NotFound: the tenant has no such node.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            self.remove_within(connection, caller, tenant_id, node_id, group_id, origin)

    def remove_within(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        group_id: str,
        origin: Origin,
    ) -> None:
        """Do the same as :meth:`remove` in the caller's transaction, which holds the tenant lock."""
        self._access.require(connection, caller, tenant_id, node_id, operations.REVOKE)
        one = {"node": node_id, "group": group_id}
        held = _FIND.first(connection, one)
        if held is None:
            return
        before = self._visibility.untils(connection, node_id)
        _REMOVE.execute(connection, one)
        self._visibility.changed(connection, tenant_id, node_id, before)
        details = {"tenant": tenant_id, "group": group_id}
        record_grant(self._audit, connection, "group-grant.remove", caller, node_id, origin, details)

    def page(
        self, caller: AnyCaller, tenant_id: str, node_id: str, paging: Paging
    ) -> tuple[Page[GroupGrant], Summaries]:
        """Return a page of the grants in force on a node, by group name, and the users who granted them.

        Raises:
            Forbidden: the caller is not a member of the tenant, or does not manage the node.
            NotFound: the tenant has no such node.
        """
        with self._database.read() as connection:
            self._access.require(connection, caller, tenant_id, node_id, operations.LIST_GRANTS)
            page = select_page(connection, *_page_queries(node_id, self._clock.now()), paging, _grant)
            granted_by = {grant.granted_by for grant in page.items if grant.granted_by is not None}
            return page, self._users.summaries(connection, granted_by)

    def _group(self, connection: Connection, tenant_id: str, group_id: str) -> Group:
        group = self._groups.find(connection, tenant_id, group_id)
        if group is None:
            raise ValidationFailed.of_field("groupId", "no-such-group", "Must be a group of the tenant.")
        return group

    def _write(
        self,
        connection: Connection,
        caller: AnyCaller,
        node: Node,
        group: Group,
        requested: GroupGrantRequest,
    ) -> GroupGrant:
        before = self._visibility.untils(connection, node.id)
        grant = GroupGrant(
            node.id,
            group.id,
            group.name,
            requested.permission,
            requested.expires_at,
            caller.user_id,
            self._clock.now(),
        )
        values = _GRANT.values(grant) | {"permission": int(grant.permission)}
        _PUT.execute(connection, {column.name: values[column.name] for column in group_grants.c})
        self._visibility.changed(connection, node.tenant_id, node.id, before)
        return grant


def _page_queries(node_id: str, now: int) -> tuple[Select[Any], Select[Any]]:
    """Return the queries for the grants in force on a node, by group name, and for their number."""
    ours = (group_grants.c.node_id == node_id) & is_in_force(now, group_grants)
    query = by_group_name(select(*_COLUMNS).where(ours), group_grants.c.group_id)
    return query, select(func.count()).select_from(group_grants).where(ours)
