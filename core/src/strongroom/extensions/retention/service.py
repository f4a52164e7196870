"""Places, lists and releases holds, and sets the retention of tenants."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, func, select

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, iso_format
from strongroom.content.files.node_marks import READERS
from strongroom.content.nodes.models import Node, trash
from strongroom.content.nodes.removal_guard import RemovalGuard, is_in_force
from strongroom.content.nodes.retention_clock import RetentionClock
from strongroom.content.nodes.retention_models import (
    HOLD,
    Hold,
    RetentionMode,
    RetentionRules,
    RetentionSettings,
    node_holds,
    tenant_retention,
)
from strongroom.content.nodes.tree import Tree
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, make_page, select_page
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import Forbidden, NotFound, RetentionLocked, ValidationFailed
from strongroom.identity.users.service import UserService

_OF_NODE: Final = node_holds.c.node_id == bindparam("of_node")
_FIND: Final = Statement(select(node_holds).where(_OF_NODE, is_in_force()), HOLD)
_PUT: Final = Statement(
    for_each_dialect(
        node_holds,
        lambda insert: insert.on_conflict_do_update(
            index_elements=["node_id"],
            set_={name: insert.excluded[name] for name in HOLD.names if name != "node_id"},
        ),
    )
)
_REMOVE: Final = Statement(delete(node_holds).where(_OF_NODE))
_IS_PURGING: Final = Statement(
    select(trash.c.id).where(trash.c.id == bindparam("of_entry"), trash.c.purging_at.is_not(None))
)
_SET: Final = Statement(
    for_each_dialect(
        tenant_retention,
        lambda insert: insert.on_conflict_do_update(
            index_elements=["tenant_id"],
            set_={
                column.name: insert.excluded[column.name]
                for column in tenant_retention.c
                if column.name != "tenant_id"
            },
        ),
    )
)


@dataclass(frozen=True, slots=True)
class WantedRetention:
    """New settings of a tenant; ``None`` is the setting of the server."""

    trash_days: int | None
    keep_versions: int | None
    version_days: int | None
    minimum_days: int
    mode: RetentionMode


@dataclass(slots=True, eq=False, repr=False)
class HoldService:
    """The legal holds of a tenant, for its members with the role ``records``."""

    _database: Database
    _clock: Clock
    _retention_clock: RetentionClock
    _memberships: Memberships
    _guard: RemovalGuard
    _tree: Tree
    _users: UserService
    _audit: AuditService

    def place(
        self,
        identity: Identity,
        tenant_id: str,
        node_id: str,
        reason: str,
        until: int | None,
        origin: Origin,
    ) -> Hold:
        """Place a hold on a node and its subtree, in the trash or not, or replace the node's own hold.

        Args:
            identity: the caller, who need not see the node.
            node_id: the file or folder.
            reason: why it is held.
            until: when the hold ends, in milliseconds since the Unix epoch; ``None``: when released.
            origin: for the audit log.

        Raises:
            Forbidden: the caller does not have the role.
            NotFound: the tenant has no such node.
            ValidationFailed: the end is not in the future.
            RetentionLocked: in compliance mode, the end would be earlier than it was.
        """
        now = self._clock.now()
        if until is not None and until <= now:
            raise ValidationFailed.of_field("until", "in-the-past", "Must be in the future.")
        hold = Hold(node_id, tenant_id, reason, until, identity.user_id, now)
        with self._database.write() as connection:
            # The lock comes first: a concurrent removal holds it, and so either ends before the hold
            # is placed or finds the hold.
            self._memberships.lock_tenant(connection, tenant_id)
            self._require_records(connection, identity, tenant_id)
            self._require_node(connection, tenant_id, node_id)
            # An end can be reached only if the clock runs.
            self._retention_clock.start(connection)
            rules = self._guard.rules(connection, tenant_id)
            _require_not_sooner(rules, self._find(connection, hold.node_id), until)
            _PUT.execute(connection, HOLD.values(hold))
            self._record(connection, "hold.place", identity, hold, origin)
        return hold

    def release(
        self,
        identity: Identity,
        tenant_id: str,
        node_id: str,
        override_reason: str | None,
        origin: Origin,
    ) -> None:
        """Release the hold of a node; administrators of the tenant do so in governance mode.

        Args:
            node_id: the file or folder.
            override_reason: why an administrator releases it, who does not have the role.
            origin: for the audit log.

        Raises:
            Forbidden: the caller does not have the role, and may not override.
            NotFound: the node has no hold of its own.
            RetentionLocked: in compliance mode, the hold has an end, which is not reached.
        """
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            rules = self._guard.rules(connection, tenant_id)
            self._require_releaser(connection, identity, tenant_id, rules, override_reason)
            hold = self._find(connection, node_id)
            if hold is None or hold.tenant_id != tenant_id:
                raise NotFound
            if rules.is_compliance and hold.until is not None:
                raise RetentionLocked(f"The hold ends at {iso_format(hold.until)}.")
            _REMOVE.execute(connection, {"of_node": node_id})
            self._record(connection, "hold.release", identity, hold, origin, override_reason)

    def page(
        self, identity: Identity, tenant_id: str, node_id: str | None, paging: Paging
    ) -> tuple[Page[Hold], list[dict[str, str]]]:
        """Return a page of the holds in force, the newest first, and the users who placed them.

        Args:
            node_id: only those that apply to this node; ``None``: all of the tenant.

        Raises:
            Forbidden: the caller neither has the role nor administers the tenant.
        """
        with self._database.read() as connection:
            role = self._memberships.caller_role(connection, tenant_id, identity)
            if role not in READERS:
                raise Forbidden
            if node_id is None:
                page = self._all(connection, tenant_id, paging)
            else:
                page = make_page(
                    self._guard.holds_over(connection, tenant_id, node_id),
                    paging,
                    _duration,
                    descending=True,
                )
            return page, self._users.summaries(connection, {hold.placed_by for hold in page.items})

    def _all(self, connection: Connection, tenant_id: str, paging: Paging) -> Page[Hold]:
        ours = (node_holds.c.tenant_id == tenant_id) & is_in_force()
        count = select(func.count()).select_from(node_holds).where(ours)
        query = select(node_holds).where(ours)
        query = query.order_by(node_holds.c.placed_at.desc(), node_holds.c.node_id)
        return select_page(connection, query, count, paging, HOLD)

    def _find(self, connection: Connection, node_id: str) -> Hold | None:
        return _FIND.first(connection, {"of_node": node_id})

    def _require_records(self, connection: Connection, identity: Identity, tenant_id: str) -> None:
        if self._memberships.caller_role(connection, tenant_id, identity) is not Role.RECORDS:
            raise Forbidden

    def _require_node(self, connection: Connection, tenant_id: str, node_id: str) -> Node:
        node = self._tree.find(connection, tenant_id, node_id)
        if node is None or node.is_root:
            raise NotFound
        # A node that is being removed cannot be restored, so it counts as gone.
        if node.trash_id and _IS_PURGING.first(connection, {"of_entry": node.trash_id}):
            raise NotFound
        return node

    def _require_releaser(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        rules: RetentionRules,
        override_reason: str | None,
    ) -> None:
        role = self._memberships.caller_role(connection, tenant_id, identity)
        may_override = override_reason is not None and not rules.is_compliance
        if role is not Role.RECORDS and not (role is Role.ADMIN and may_override):
            raise Forbidden

    def _record(
        self,
        connection: Connection,
        action: str,
        identity: Identity,
        hold: Hold,
        origin: Origin,
        override_reason: str | None = None,
    ) -> None:
        details = {"tenant": hold.tenant_id, "reason": override_reason or hold.reason}
        if hold.until is not None:
            details["until"] = iso_format(hold.until)
        event = AuditEvent(
            action,
            actor_id=identity.user_id,
            target_type="file",
            target_id=hold.node_id,
            origin=origin,
            details=details,
        )
        self._audit.record(connection, event)


@dataclass(slots=True, eq=False, repr=False)
class RetentionService:
    """The retention settings of tenants, for their administrators."""

    _database: Database
    _retention_clock: RetentionClock
    _memberships: Memberships
    _guard: RemovalGuard
    _audit: AuditService

    def get(self, identity: Identity, tenant_id: str) -> RetentionSettings:
        """Return the settings that apply to a tenant: the stricter of its own and the server's.

        Raises:
            Forbidden: the caller is not a member.
        """
        with self._database.read() as connection:
            self._memberships.require_member(connection, tenant_id, identity)
            return self._guard.rules(connection, tenant_id).settings

    def set(
        self, identity: Identity, tenant_id: str, request: WantedRetention, origin: Origin
    ) -> RetentionSettings:
        """Set the retention of a tenant, and return the settings that apply.

        Raises:
            Forbidden: the caller does not administer the tenant.
            RetentionLocked: in compliance mode, a setting would become less strict.
        """
        values = {name: getattr(request, name) for name in WantedRetention.__slots__}
        with self._database.write() as connection:
            self._memberships.lock_as_admin(connection, tenant_id, identity)
            self._retention_clock.start(connection)
            before = self._guard.rules(connection, tenant_id)
            _SET.execute(connection, {"tenant_id": tenant_id, **values, "mode": request.mode.value})
            after = self._guard.rules(connection, tenant_id).settings
            # Checked after the change: an error rolls it back.
            if before.is_compliance and not _is_as_strict(after, before.settings):
                raise RetentionLocked
            self._record(connection, identity, tenant_id, after, origin)
        return after

    def _record(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        settings: RetentionSettings,
        origin: Origin,
    ) -> None:
        event = AuditEvent(
            "retention.set",
            actor_id=identity.user_id,
            target_type="tenant",
            target_id=tenant_id,
            origin=origin,
            details={name: str(value) for name, value in settings._asdict().items()},
        )
        self._audit.record(connection, event)


def _duration(hold: Hold) -> tuple[Any, ...]:
    """Return the key that holds of a node are sorted by: the last to end is greatest."""
    return hold.until is None, hold.until or 0, hold.node_id


def _require_not_sooner(rules: RetentionRules, hold: Hold | None, until: int | None) -> None:
    if not rules.is_compliance or hold is None or hold.until is None:
        return
    # A hold without an end could be released at once.
    if until is None or until < hold.until:
        raise RetentionLocked(f"The hold must not end before {iso_format(hold.until)}.")


def _is_as_strict(after: RetentionSettings, before: RetentionSettings) -> bool:
    is_compliance = after.mode is RetentionMode.COMPLIANCE
    return is_compliance and all(new >= old for new, old in zip(after[:4], before[:4], strict=True))
