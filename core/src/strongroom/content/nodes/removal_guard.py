"""Decides which nodes, versions and bytes may be removed: the only place with this rule.

Every function that removes rows of nodes or versions, or detaches a node from its folders, calls
:class:`RemovalGuard` in its transaction and under the lock of the tenant. Bytes go only after the last
row that refers to them, see ``storage/blob_removal.py``, so they need no rule of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    exists,
    func,
    literal,
    select,
    true,
)

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import iso_format
from strongroom.content.nodes.models import Node, folders_around, node_versions, nodes
from strongroom.content.nodes.retention_models import (
    HOLD,
    Hold,
    RetentionMode,
    RetentionRules,
    RetentionSettings,
    node_holds,
    retention_clock,
    tenant_retention,
)
from strongroom.content.nodes.shared_reads import shared_of_tenant
from strongroom.content.nodes.tree import within_subtree
from strongroom.content.nodes.versions import Version
from strongroom.content.scanning.states import QUARANTINED
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import Role
from strongroom.foundation.caller import Override
from strongroom.foundation.database.rows import Row
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import FileHeld, FileRetained, Forbidden, StrongroomError

_TIME: Final = select(retention_clock.c.now).scalar_subquery()


def is_in_force() -> ColumnElement[bool]:
    """Return the condition that a row of :data:`node_holds` has not ended."""
    # The clock runs from the first hold on; without its row, no hold has ended.
    return node_holds.c.until.is_(None) | (node_holds.c.until > func.coalesce(_TIME, 0))


_OF_TENANT: Final = node_holds.c.tenant_id == bindparam("tenant_id")
# The hold that ends last is reported: while it is in force, the end of any other changes nothing.
_LONGEST_FIRST: Final = (node_holds.c.until.is_(None).desc(), node_holds.c.until.desc())


def _rules() -> Select[Any]:
    ours = tenant_retention.c.tenant_id == bindparam("tenant_id")
    # One row to join to, because the clock and the settings of the tenant may both have no row. One
    # statement, because it precedes every removal.
    one: FromClause = select(literal(1).label("one")).subquery("one")
    held = exists().where(_OF_TENANT, is_in_force())
    joined = one.outerjoin(retention_clock, true()).outerjoin(tenant_retention, ours)
    return select(
        retention_clock.c.now,
        retention_clock.c.compliance_days,
        held.label("held"),
        *[column for column in tenant_retention.c if column.name != "tenant_id"],
    ).select_from(joined)


_RULES: Final = Statement(_rules(), tuple)
_LEAST_TRASH_DAYS: Final = Statement(select(func.min(tenant_retention.c.trash_days)))


def _covering() -> Select[Any]:
    path = folders_around()
    holds = select(node_holds).join(path, path.c.id == node_holds.c.node_id)
    return holds.where(is_in_force()).order_by(*_LONGEST_FIRST)


_COVERING: Final = Statement(_covering(), HOLD)


def _held_paths() -> CTE:
    """Return the CTE with the held nodes of a tenant and each of their folders.

    It climbs from the holds, because they are few and a folder may contain millions of nodes.
    """
    start = select(node_holds.c.node_id.label("held"), node_holds.c.node_id.label("id"))
    climb = start.where(_OF_TENANT, is_in_force()).cte("held_paths", recursive=True)
    step = select(climb.c.held, nodes.c.parent_id).join(nodes, nodes.c.id == climb.c.id)
    return climb.union_all(step.where(nodes.c.parent_id.is_not(None)))


def _held_within() -> Select[Any]:
    paths = _held_paths()
    holds = select(node_holds).join(paths, paths.c.held == node_holds.c.node_id)
    return holds.where(paths.c.id == bindparam("node_id")).order_by(*_LONGEST_FIRST).limit(1)


# Built at the first execution, because building takes longer than importing this module.
_HELD_WITHIN: Final = Statement(lambda _: _held_within(), HOLD)
_HOLD_OF_TENANT: Final = Statement(
    select(node_holds).where(_OF_TENANT, is_in_force()).order_by(*_LONGEST_FIRST).limit(1), HOLD
)
_CHANGED: Final = func.max(nodes.c.updated_at)
_IS_FILE: Final = nodes.c.blob_key.is_not(None)
_ARCHIVED: Final = select(func.max(node_versions.c.archived_at))
# Only content is retained, so the times of folders do not count.
_NEWEST_WITHIN: Final = (
    Statement(select(_CHANGED).where(within_subtree(), _IS_FILE)),
    Statement(_ARCHIVED.join(nodes, nodes.c.id == node_versions.c.node_id).where(within_subtree())),
)
_NEWEST_OF_TENANT: Final = (
    Statement(select(_CHANGED).where(nodes.c.tenant_id == bindparam("tenant_id"), _IS_FILE)),
    Statement(_ARCHIVED.where(node_versions.c.tenant_id == bindparam("tenant_id"))),
)


_HAS_HOLD: Final = Statement(select(exists().where(_OF_TENANT, is_in_force())))


def _held_bytes() -> tuple[Select[Any], Select[Any]]:
    start = select(node_holds.c.node_id.label("id")).where(_OF_TENANT, is_in_force())
    tree = start.cte("held", recursive=True)
    child = nodes.alias("child")
    # UNION, because holds may lie within each other.
    tree = tree.union(select(child.c.id).join(tree, child.c.parent_id == tree.c.id))
    files = select(func.coalesce(func.sum(nodes.c.size), 0)).join(tree, tree.c.id == nodes.c.id)
    versions = select(func.coalesce(func.sum(node_versions.c.size), 0))
    return files, versions.join(tree, tree.c.id == node_versions.c.node_id)


_HELD_BYTES: Final = (
    Statement(lambda _: _held_bytes()[0]),
    Statement(lambda _: _held_bytes()[1]),
)


def held_bytes(connection: Connection, tenant_id: str) -> int:
    """Return the total size of a tenant's files under a hold, with their versions, in bytes."""
    parameters = {"tenant_id": tenant_id}
    # PostgreSQL expects a recursive query to find very many rows, so it prepares for them even if there
    # is no hold.
    if not _HAS_HOLD.scalar(connection, parameters):
        return 0
    return sum(int(query.scalar(connection, parameters)) for query in _HELD_BYTES)


@dataclass(slots=True, eq=False, repr=False)
class RemovalGuard:
    """Refuses removals that a hold or the retention of a tenant forbids.

    - A hold forbids to remove the node, its subtree and their versions, to move them out of it, and to
      delete them to the trash, for everyone, until it ends or is released.
    - ``minimum_days`` forbids to remove content sooner after its last change: of a file when it was
      written, moved, renamed or deleted; of a version when it was replaced.

    :class:`~strongroom.content.nodes.retention_clock.RetentionClock` returns the time.
    """

    defaults: RetentionSettings
    _memberships: Memberships
    _audit: AuditService

    def rules(self, connection: Connection, tenant_id: str) -> RetentionRules:
        """Return the rules of a tenant: the stricter of its own settings and the server's."""
        read = partial(_RULES.first, connection, {"tenant_id": tenant_id})
        row = shared_of_tenant(("rules", tenant_id), read)
        return self._combined(row or (None,) * 8)

    def least_trash_days(self, connection: Connection) -> int:
        """Return the shortest time in days that any tenant keeps its trash."""
        least: int | None = _LEAST_TRASH_DAYS.scalar(connection)
        return self.defaults.trash_days if least is None else min(least, self.defaults.trash_days)

    def require_removable(
        self, connection: Connection, node: Node, override: Override | None = None
    ) -> None:
        """Check that a node may be removed permanently, with its subtree and all versions.

        Raises:
            FileHeld: a hold covers the node, or a node in its subtree.
            FileRetained: content in it is retained, and the override is not permitted.
        """
        rules = self.rules(connection, node.tenant_id)
        self._require_no_hold(connection, rules, node)
        if rules.settings.minimum_days:
            newest = _newest(connection, _NEWEST_WITHIN, {"node_id": node.id})
            self._require_past(connection, rules, newest, override, (node.tenant_id, node.id))

    def require_detachable(self, connection: Connection, node: Node) -> None:
        """Check that a node may go to the trash with its subtree.

        Raises:
            FileHeld: a hold covers the node, or a node in its subtree.
        """
        self._require_no_hold(connection, self.rules(connection, node.tenant_id), node)

    def require_movable(self, connection: Connection, node: Node, parent_id: str) -> None:
        """Check that no hold would cease to cover a node in another folder.

        Raises:
            FileHeld: a hold on a folder around the node does not cover the other folder.
        """
        # A rename leaves the folders around the node, and most tenants have no hold: both need no
        # climb.
        if parent_id == node.parent_id or not self.rules(connection, node.tenant_id).has_holds:
            return
        after = {hold.node_id for hold in _COVERING.all(connection, {"node_id": parent_id})}
        for hold in _COVERING.all(connection, {"node_id": node.parent_id}):
            if hold.node_id not in after:
                raise _held(hold)

    def refusal(
        self, connection: Connection, rules: RetentionRules, node_id: str, changed_at: int
    ) -> StrongroomError | None:
        """Return why one content of a file must be kept; ``None``: it may go.

        Args:
            connection: the caller's transaction.
            changed_at: when the content was written or archived.
        """
        hold = _COVERING.first(connection, {"node_id": node_id}) if rules.has_holds else None
        if hold is not None:
            return _held(hold)
        until = rules.retained_until(changed_at)
        return None if until is None else _retained(until)

    def archives(self, connection: Connection, rules: RetentionRules, file: Node) -> bool:
        """Return whether the content of a file becomes a version when it is replaced.

        Args:
            connection: the caller's transaction.

        Raises:
            FileHeld, FileRetained: the content is in quarantine, and must be kept nevertheless.
        """
        refusal = self.refusal(connection, rules, file.id, file.updated_at)
        if file.scan not in QUARANTINED:
            return rules.settings.keep_versions > 0 or refusal is not None
        # Content in quarantine never becomes a version.
        if refusal is not None:
            raise refusal
        return False

    def removable_versions(self, connection: Connection, versions: Sequence[Version]) -> list[Version]:
        """Return the versions that may be removed."""
        # The rules of each tenant are read once, because a batch of versions has few tenants.
        rules = {
            tenant_id: self.rules(connection, tenant_id)
            for tenant_id in sorted({version.tenant_id for version in versions})
        }

        def is_removable(version: Version) -> bool:
            of_tenant, at = rules[version.tenant_id], version.archived_at
            return self.refusal(connection, of_tenant, version.node_id, at) is None

        return [version for version in versions if is_removable(version)]

    def require_removable_version(
        self, connection: Connection, node: Node, version: Version, override: Override | None
    ) -> None:
        """Check that a version may be removed.

        Raises:
            FileHeld: a hold covers the file.
            FileRetained: the version is retained, and the override is not permitted.
        """
        rules = self.rules(connection, node.tenant_id)
        hold = _COVERING.first(connection, {"node_id": node.id}) if rules.has_holds else None
        if hold is not None:
            raise _held(hold)
        target = (node.tenant_id, node.id)
        self._require_past(connection, rules, version.archived_at, override, target)

    def is_held(self, connection: Connection, node: Node) -> bool:
        """Return whether a hold covers a node, or a node in its subtree."""
        rules = self.rules(connection, node.tenant_id)
        return self._hold_around(connection, rules, node) is not None

    def holds_over(self, connection: Connection, tenant_id: str, node_id: str) -> Sequence[Hold]:
        """Return the holds in force on a node and on the folders around it; the last to end is first."""
        holds = _COVERING.all(connection, {"node_id": node_id})
        return [hold for hold in holds if hold.tenant_id == tenant_id]

    def require_removable_tenant(
        self, connection: Connection, tenant_id: str, override: Override | None = None
    ) -> None:
        """Check that a tenant may be deleted with all its content.

        Raises:
            FileHeld: the tenant has a hold.
            FileRetained: content is retained, and the override is not permitted.
        """
        rules = self.rules(connection, tenant_id)
        hold = _HOLD_OF_TENANT.first(connection, {"tenant_id": tenant_id})
        if hold is not None:
            raise _held(hold)
        if rules.settings.minimum_days:
            newest = _newest(connection, _NEWEST_OF_TENANT, {"tenant_id": tenant_id})
            self._require_past(connection, rules, newest, override, (tenant_id, None))

    def may_purge_tenant(self, connection: Connection, tenant_id: str) -> bool:
        """Return whether the content of a deleted tenant may be removed.

        Administrators may have overridden retention with the deletion, but not in compliance mode.
        """
        rules = self.rules(connection, tenant_id)
        if rules.has_holds:
            return False
        if not (rules.is_compliance and rules.settings.minimum_days):
            return True
        newest = _newest(connection, _NEWEST_OF_TENANT, {"tenant_id": tenant_id})
        return newest is None or rules.retained_until(newest) is None

    def _combined(self, row: Row) -> RetentionRules:
        now, compliance_days, held, trash_days, keep, version_days, minimum_days, mode = row
        server = self.defaults
        # Compliance mode wins wherever it is set: on the server, for the tenant, or in the clock,
        # which remembers it after the configuration of the server was changed.
        strict = {server.mode, RetentionMode(mode or RetentionMode.GOVERNANCE)}
        is_compliance = compliance_days is not None or RetentionMode.COMPLIANCE in strict
        settings = RetentionSettings(
            _or(trash_days, server.trash_days),
            _or(keep, server.keep_versions),
            _or(version_days, server.version_days),
            max(minimum_days or 0, server.minimum_days, compliance_days or 0),
            RetentionMode.COMPLIANCE if is_compliance else RetentionMode.GOVERNANCE,
        )
        # Without a clock, the time is 0, so that no retained content is old enough.
        return RetentionRules(settings, now or 0, bool(held))

    def _hold_around(self, connection: Connection, rules: RetentionRules, node: Node) -> Hold | None:
        if not rules.has_holds:
            return None
        parameters = {"node_id": node.id, "tenant_id": node.tenant_id}
        # First up to the root, which is a short path; only then the holds of the tenant are climbed
        # from.
        covering = _COVERING.first(connection, parameters)
        return covering or _HELD_WITHIN.first(connection, parameters)

    def _require_no_hold(self, connection: Connection, rules: RetentionRules, node: Node) -> None:
        hold = self._hold_around(connection, rules, node)
        if hold is not None:
            raise _held(hold)

    def _require_past(
        self,
        connection: Connection,
        rules: RetentionRules,
        changed_at: int | None,
        override: Override | None,
        target: tuple[str, str | None],
    ) -> None:
        """Check that content is not retained; ``target`` is its tenant, and its node if it is of one."""
        until = None if changed_at is None else rules.retained_until(changed_at)
        if until is None:
            return
        if override is None or rules.is_compliance:
            raise _retained(until)
        self._accept(connection, override, target, until)

    def _accept(
        self,
        connection: Connection,
        override: Override,
        target: tuple[str, str | None],
        until: int,
    ) -> None:
        """Record an override by an administrator of the tenant, or of the server for a whole tenant."""
        (tenant_id, node_id), identity = target, override.identity
        role = self._memberships.caller_role(connection, tenant_id, identity)
        if role is not Role.ADMIN and not (node_id is None and identity.is_admin):
            raise Forbidden
        event = AuditEvent(
            "retention.override",
            actor_id=identity.user_id,
            target_type="file" if node_id else "tenant",
            target_id=node_id or tenant_id,
            origin=override.origin,
            details={"tenant": tenant_id, "reason": override.reason, "until": iso_format(until)},
        )
        self._audit.record(connection, event)


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _newest(
    connection: Connection, statements: Sequence[Statement[Any]], parameters: dict[str, str]
) -> int | None:
    times = [statement.scalar(connection, parameters) for statement in statements]
    return max((time for time in times if time is not None), default=None)


def _held(hold: Hold) -> FileHeld:
    return FileHeld.for_hold(hold.reason, None if hold.until is None else iso_format(hold.until))


def _retained(until: int) -> FileRetained:
    return FileRetained.with_end(iso_format(until))
