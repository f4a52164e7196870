"""Grants and revokes permissions on files and folders."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy import (
    Connection,
    Executable,
    and_,
    bindparam,
    delete,
    select,
)

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.expiry import ExpiryRules
from strongroom.content.nodes.grant_copies import copied_columns
from strongroom.content.nodes.models import (
    FOREVER,
    Grant,
    Node,
    Permission,
    grants,
)
from strongroom.content.nodes.visibility import Visibility
from strongroom.foundation.caller import AnyCaller, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, seek_page
from strongroom.foundation.database.rows import Row, RowMapper, get_columns
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import NotAMember, ValidationFailed
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.files import Tenure

Summaries = list[dict[str, str]]

_GRANT: Final = RowMapper(Grant, get_columns(Grant, grants))


def _grant(row: Row) -> Grant:
    grant = _GRANT(row)
    return replace(grant, permission=Permission(grant.permission))


_IS_ONE: Final = and_(grants.c.node_id == bindparam("node"), grants.c.user_id == bindparam("user"))
_REMOVE: Final = Statement(delete(grants).where(_IS_ONE))
# The others remain: they do not depend on the replaced grant.
_REPLACED = ("permission", "expires_at", "granted_by", "created_at")


def _putting(insert: Any) -> Executable:
    replaced = {name: insert.excluded[name] for name in _REPLACED}
    keys = [grants.c.node_id, grants.c.user_id]
    putting: Executable = insert.on_conflict_do_update(index_elements=keys, set_=replaced)
    return putting


_PUT: Final = Statement(for_each_dialect(grants, _putting))
_OF_USER: Final = Statement(select(*_GRANT.columns).where(_IS_ONE), _grant)


@dataclass(frozen=True, slots=True)
class GrantRequest:
    """A requested grant. ``expires_at`` is in milliseconds since the Unix epoch, or ``None``."""

    user_id: str
    permission: Permission
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class GroupGrantRequest:
    """A requested grant to a group."""

    group_id: str
    permission: Permission
    expires_at: int | None


@dataclass(slots=True, eq=False, repr=False)
class GrantService:
    """Creates, lists and revokes grants on files and folders."""

    _database: Database
    _clock: Clock
    _access: AccessControl
    _expiry: ExpiryRules
    _visibility: Visibility
    _users: UserService
    _audit: AuditService

    def put(
        self,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        requested: GrantRequest,
        origin: Origin,
    ) -> tuple[Grant, bool]:
        """Grant a member a permission; this replaces the member's grant on the same node.

        Return the grant, and whether it is new: no grant was in force before.

        Raises:
            ValidationFailed: the expiry is not in the future.
            Forbidden: the caller is not a member of the tenant, does not manage the node, or the grant
                would outlast the caller's permission or reduce the owner's permission.
            NotFound: the tenant has no such node.
            NotAMember: the user is not a member of the tenant, whether or not the user exists.
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
        requested: GrantRequest,
        origin: Origin,
    ) -> tuple[Grant, bool]:
        """Do the same as :meth:`put` in the caller's transaction, which holds the tenant lock."""
        require_future(requested.expires_at, self._clock.now())
        node = self._access.require(connection, caller, tenant_id, node_id, operations.GRANT).node
        # The same error for strangers and unknown ids, so that grants do not reveal who has an
        # account.
        if self._access.memberships.role(connection, tenant_id, requested.user_id) is None:
            raise NotAMember.of_field("ownerId", "not-a-member", NotAMember.message)
        before = self._find(connection, node_id, requested.user_id)
        end = self._expiry.grant_end(connection, caller, node, requested, before)
        requested = replace(requested, expires_at=end)
        grant = self._write(connection, caller, node, requested)
        if before is not None:
            # Checked after the write: an error rolls the grant back.
            self._expiry.require_owner_untouched(connection, caller, node, before, grant)
        details = {"tenant": tenant_id, "user": requested.user_id, **audit_details(requested)}
        record_grant(self._audit, connection, "grant.put", caller, node_id, origin, details)
        return grant, before is None or not self._access.is_unexpired(before.expires_at)

    def remove(
        self, caller: AnyCaller, tenant_id: str, node_id: str, user_id: str, origin: Origin
    ) -> None:
        """Revoke a user's grant on a node; a missing grant is not an error.

        Raises:
            Forbidden: the caller is not a member of the tenant, does not manage the node, or would
                revoke the owner's permission without being an administrator of the tenant.
            NotFound: the tenant has no such node.
        """
        with self._database.write() as connection:
            self._access.memberships.lock_tenant(connection, tenant_id)
            self.remove_within(connection, caller, tenant_id, node_id, user_id, origin)

    def remove_within(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        node_id: str,
        user_id: str,
        origin: Origin,
    ) -> None:
        """Do the same as :meth:`remove` in the caller's transaction, which holds the tenant lock."""
        node = self._access.require(connection, caller, tenant_id, node_id, operations.REVOKE).node
        held = self._find(connection, node_id, user_id)
        if held is not None:
            self._expiry.require_owner_untouched(connection, caller, node, held, None)
        before = self._visibility.until(connection, node_id, user_id)
        if _REMOVE.execute(connection, {"node": node_id, "user": user_id}):
            self._refresh_visibility(connection, node, user_id, before)
            details = {"tenant": tenant_id, "user": user_id}
            record_grant(self._audit, connection, "grant.remove", caller, node_id, origin, details)

    def tenure(self, caller: AnyCaller, tenant_id: str, node_id: str) -> Tenure:
        """Return how long the caller manages a node.

        Raises:
            Forbidden: the caller does not manage it.
            NotFound: the tenant has no such node.
        """
        with self._database.read() as connection:
            node = self._access.require(connection, caller, tenant_id, node_id, operations.GRANT).node
            return self._expiry.tenure(connection, caller, node)

    def page(
        self, caller: AnyCaller, tenant_id: str, node_id: str, paging: Paging
    ) -> tuple[Page[Grant], Summaries]:
        """Return a page of the grants in force on a node, and summaries of the users in them.

        Raises:
            Forbidden: the caller is not a member of the tenant, or does not manage the node.
            NotFound: the tenant has no such node.
        """
        with self._database.read() as connection:
            self._access.require(connection, caller, tenant_id, node_id, operations.LIST_GRANTS)
            ours = (grants.c.node_id == node_id) & self._access.is_in_force()
            query, positions = select(*_GRANT.columns).where(ours), select(grants.c.user_id).where(ours)
            page = seek_page(connection, query, positions, paging, _grant)
            return page, self._users.summaries(connection, _named(page.items))

    def _find(self, connection: Connection, node_id: str, user_id: str) -> Grant | None:
        return _OF_USER.first(connection, {"node": node_id, "user": user_id})

    def _write(
        self, connection: Connection, caller: AnyCaller, node: Node, requested: GrantRequest
    ) -> Grant:
        user_id, expires_at = requested.user_id, requested.expires_at
        # Read before the write: which lists change depends on the difference.
        before = self._visibility.until(connection, node.id, user_id)
        around = self._visibility.until(connection, node.parent_id or "", user_id)
        now = self._clock.now()
        grant = Grant(node.id, user_id, requested.permission, expires_at, caller.user_id, now)
        row = {
            "node_id": grant.node_id,
            "user_id": grant.user_id,
            "tenant_id": node.tenant_id,
            "permission": int(grant.permission),
            "expires_at": grant.expires_at,
            "granted_by": grant.granted_by,
            "created_at": grant.created_at,
            **copied_columns(node),
            "parent_visible_until": None if around == FOREVER else around,
        }
        _PUT.execute(connection, row)
        self._refresh_visibility(connection, node, user_id, before)
        return grant

    def _refresh_visibility(self, connection: Connection, node: Node, user_id: str, before: int) -> None:
        now = self._visibility.until(connection, node.id, user_id)
        self._visibility.refresh(connection, node.tenant_id, node.id, {user_id: (before, now)})


def require_future(expires_at: int | None, now: int) -> None:
    """Check the expiry of a grant.

    Raises:
        ValidationFailed: it is not in the future.
    """
    if expires_at is not None and expires_at <= now:
        raise ValidationFailed.of_field("expiresAt", "not-in-the-future", "Must be in the future.")


def audit_details(requested: GrantRequest | GroupGrantRequest) -> dict[str, str]:
    """Return the details of a requested grant for the audit log."""
    details = {"permission": requested.permission.name.lower()}
    if requested.expires_at is not None:
        details["expiresAt"] = iso_format(requested.expires_at)
    return details


def record_grant(
    audit: AuditService,
    connection: Connection,
    action: str,
    caller: AnyCaller,
    node_id: str,
    origin: Origin,
    details: dict[str, str],
) -> None:
    """Record a change of the grants on a node in the audit log."""
    event = AuditEvent(
        action,
        actor_id=caller.user_id,
        target_type="file",
        target_id=node_id,
        origin=origin,
        details=details,
    )
    audit.record(connection, event)


def _named(page: Iterable[Grant]) -> set[str]:
    ids = {user_id for grant in page for user_id in (grant.user_id, grant.granted_by)}
    return {user_id for user_id in ids if user_id is not None}
