"""Creates and changes tenants and their memberships."""

from collections.abc import Callable, Collection
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock, next_revision
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.models import (
    TENANT,
    Member,
    Role,
    Tenant,
    Usage,
    tenant_members,
    tenants,
)
from strongroom.content.tenants.quota import Quota
from strongroom.foundation.assurance import make_demand
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.installation import require_code
from strongroom.foundation.database.named_rows import with_sort_key
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.replica_reads import replica_read
from strongroom.foundation.database.statements import Statement, dynamic
from strongroom.foundation.errors import (
    Forbidden,
    NotAMember,
    NotFound,
    RevisionConflict,
    ValidationFailed,
)
from strongroom.foundation.ids import new_id
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.users.service import UserService
from strongroom.plugin_api.deactivation import DeactivationCause

_DEMANDS: Final = frozenset({"required_acr", "max_proof_age"})
_DEMANDS_OBEYED_SINCE: Final = "0016"
"""The schema revision of the oldest code that refuses logins which do not meet a demand."""

_ADD: Final = Statement(insert(tenants))
_IDENTIFIED: Final = Statement(
    select(tenants)
    .join(tenant_members, tenant_members.c.tenant_id == tenants.c.id)
    .where(
        tenant_members.c.user_id == bindparam("user_id"),
        tenants.c.deleted_at.is_(None),
        (tenants.c.name == bindparam("identifier")) | (tenants.c.id == bindparam("identifier")),
    )
    .order_by(tenants.c.id),
    TENANT,
)
# The row lock serializes changes, so a concurrent one is detected by its revision.
_LOCK_REVISION: Final = Statement(
    select(tenants.c.revision)
    .where(tenants.c.id == bindparam("tenant_id"), tenants.c.deleted_at.is_(None))
    .with_for_update()
)


Measure = Callable[[Connection, str], int]
"""Returns the bytes of a kind that a tenant has."""


class TenantService:
    """Creates and changes tenants and their members.

    Args:
        users: checks that users exist, and returns their summaries.
        any_user_creates: whether any user may create a tenant, or only server administrators.
        adds_uninvited: whether administrators of a tenant add users by their ids.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        memberships: Memberships,
        quota: Quota,
        users: UserService,
        deactivations: Deactivations,
        audit: AuditService,
        *,
        any_user_creates: bool,
        adds_uninvited: bool,
    ) -> None:
        self._measures: dict[str, Measure] = {}
        self._database = database
        self._clock = clock
        self._memberships = memberships
        self.quota = quota
        self._users = users
        self._deactivations = deactivations
        self._audit = audit
        self._any_user_creates = any_user_creates
        self._adds_uninvited = adds_uninvited

    def measure(self, **measures: Measure) -> None:
        """Register what returns a part of :class:`Usage`, by the name of its field."""
        self._measures |= measures

    def create(self, identity: Identity, name: str, origin: Origin) -> Tenant:
        """Create a tenant; its creator becomes its administrator.

        Raises:
            Forbidden: only server administrators may create tenants, and the caller is not one.
        """
        if not (self._any_user_creates or identity.is_admin):
            raise Forbidden
        now = self._clock.now()
        tenant = Tenant(new_id(), name, None, 0, 0, now, now, now)
        with self._database.write() as connection:
            _ADD.execute(connection, TENANT.values(tenant))
            self._memberships.put(connection, tenant.id, identity.user_id, Role.ADMIN)
            self._record(connection, "tenant.create", identity, tenant.id, origin)
        return self.quota.with_default(tenant)

    def find_roles(self, user_id: str, tenant_ids: Collection[str]) -> dict[str, str]:
        """Return the roles of a user in tenants, by their ids; checks no permission."""
        with self._database.read() as connection:
            return self._memberships.find_roles(connection, user_id, tenant_ids)

    def find_all_roles(self, connection: Connection, user_id: str) -> dict[str, str]:
        """Return the roles of a user in all tenants, by their ids; checks no permission."""
        return self._memberships.find_all_roles(connection, user_id)

    def get(self, identity: Identity, tenant_id: str) -> Tenant:
        """Return a tenant.

        Raises:
            Forbidden: the caller is not a member, whether or not the tenant exists.
        """
        return self.membership(identity, tenant_id)[1]

    def membership(self, identity: Identity, tenant_id: str) -> tuple[Role, Tenant]:
        """Return the caller's role in a tenant, and the tenant; raises as :meth:`get`."""
        with self._database.read_one() as connection:
            role, tenant = self._memberships.find_tenant(connection, tenant_id, identity)
        return role, self.quota.with_default(tenant)

    def role(self, identity: Identity, tenant_id: str) -> Role | None:
        """Return the caller's role; ``None`` for a non-member, whether or not the tenant exists.

        It is also ``None`` if the caller's access key does not reach the tenant itself.
        """
        with self._database.read() as connection:
            return self._memberships.caller_role(connection, tenant_id, identity)

    def administers(self, user_id: str, tenant_id: str | None) -> bool:
        """Return whether a user is active, and administers the tenant or the server."""
        with self._database.read() as connection:
            return self._memberships.administers(connection, tenant_id, user_id)

    def usage(self, identity: Identity, tenant_id: str) -> Usage:
        """Return the usage of a tenant, for members and server administrators.

        Raises:
            Forbidden: the caller is neither, whether or not the tenant exists.
            NotFound: the tenant does not exist; only for server administrators.
        """
        with self._database.read() as connection:
            if not identity.is_admin:
                self._memberships.require_member(connection, tenant_id, identity)
            tenant = self.quota.find(connection, tenant_id)
            return Usage(
                used_bytes=tenant.used_bytes,
                reserved_bytes=tenant.reserved_bytes,
                quota_bytes=tenant.quota_bytes,
                **{name: sum_of(connection, tenant_id) for name, sum_of in self._measures.items()},
            )

    def update(
        self,
        identity: Identity,
        tenant_id: str,
        changes: dict[str, Any],
        revision: int | None,
        origin: Origin,
    ) -> Tenant:
        """Change a tenant's ``name``, ``quota_bytes``, or ``required_acr`` and ``max_proof_age``.

        A quota below the current usage is accepted: uploads fail until enough is deleted.

        Raises:
            Forbidden: the caller administers neither the tenant nor the server, or the change includes
                the quota, which only server administrators may set.
            StepUpRequired: the caller's login does not meet what the tenant demands, now or afterwards.
            NotFound: the tenant does not exist.
            RevisionConflict: the tenant has changed since the given revision.
        """
        with self._database.write() as connection:
            if not identity.is_admin:
                self._memberships.require_admin(connection, tenant_id, identity)
            if "quota_bytes" in changes and not identity.is_admin:
                raise Forbidden("Only server administrators may set a quota.")
            self._require_met(identity, changes)
            if _DEMANDS & changes.keys():
                require_code(connection, _DEMANDS_OBEYED_SINCE)
            self._change(connection, tenant_id, changes, revision)
            details = {field: str(value) for field, value in changes.items()}
            self._record(connection, "tenant.update", identity, tenant_id, origin, details)
            return self.quota.find(connection, tenant_id)

    def of_caller(self, identity: Identity, paging: Paging) -> Page[Tenant]:
        """Return a page of the caller's tenants, sorted by name."""
        mine = tenant_members.c.user_id == identity.user_id
        if identity.key is not None and identity.key.tenant_id is not None:
            mine &= tenants.c.id == identity.key.tenant_id
        return self._page_of_members(mine, paging)

    def find_of_caller(self, identity: Identity, identifier: str) -> list[Tenant]:
        """Return the caller's tenants with an id or a whole name, sorted by id."""
        limit = None if identity.key is None else identity.key.tenant_id
        parameters = {"user_id": identity.user_id, "identifier": identifier}
        with self._database.read_one() as connection:
            rows = _IDENTIFIED.all(connection, parameters)
        return [self.quota.with_default(row) for row in rows if limit in (None, row.id)]

    def of_member(self, identity: Identity, user_id: str, paging: Paging) -> Page[Tenant]:
        """Return a page of the tenants of a user, sorted by name; none of an unknown user.

        Raises:
            Forbidden: the caller does not administer the server.
        """
        if not identity.is_admin:
            raise Forbidden
        return self._page_of_members(tenant_members.c.user_id == user_id, paging)

    def _page_of_members(self, condition: ColumnElement[bool], paging: Paging) -> Page[Tenant]:
        """Return a page of the tenants with a membership that meets a condition, sorted by name."""
        is_shown = condition & tenants.c.deleted_at.is_(None)
        joined = tenants.join(tenant_members, tenant_members.c.tenant_id == tenants.c.id)
        query = select(tenants).select_from(joined).where(is_shown)
        query = query.order_by(tenants.c.sort_key, tenants.c.id)
        count = select(func.count()).select_from(joined).where(is_shown)
        with self._database.read() as connection:
            return select_page(connection, query, count, paging, self.quota.tenant)

    @replica_read
    def of_server(self, identity: Identity, paging: Paging) -> Page[Tenant]:
        """Return a page of all tenants, sorted by name.

        Raises:
            Forbidden: the caller does not administer the server.
        """
        if not identity.is_admin:
            raise Forbidden
        is_live = tenants.c.deleted_at.is_(None)
        query = select(tenants).where(is_live).order_by(tenants.c.sort_key, tenants.c.id)
        count = select(func.count()).select_from(tenants).where(is_live)
        with self._database.read() as connection:
            return select_page(connection, query, count, paging, self.quota.tenant)

    @replica_read
    def members(
        self, identity: Identity, tenant_id: str, paging: Paging
    ) -> tuple[Page[Member], list[dict[str, str]]]:
        """Return a page of members, and summaries of these users.

        Raises:
            Forbidden: the caller is not a member, whether or not the tenant exists.
        """
        with self._database.read() as connection:
            self._memberships.require_member(connection, tenant_id, identity)
            page = self._memberships.page(connection, tenant_id, paging)
            return page, self._users.summaries(connection, [member.user_id for member in page.items])

    def put_member(
        self, identity: Identity, tenant_id: str, user_id: str, role: Role, origin: Origin
    ) -> Member:
        """Add a member, or change a member's role.

        Raises:
            Forbidden: the caller does not administer the tenant.
            NotFound: the user does not exist, or is no member and the configuration requires an
                invitation.
            LastAdministrator: the tenant would have no administrator left.
        """
        with self._database.write() as connection:
            self._memberships.require_admin(connection, tenant_id, identity)
            self._require_consent(connection, identity, tenant_id, user_id)
            self._users.get(connection, user_id)
            return self.begin_membership(connection, identity, tenant_id, user_id, role, origin)

    def begin_membership(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        user_id: str,
        role: Role,
        origin: Origin,
    ) -> Member:
        """Put a member within the caller's transaction, for callers who have checked that they may.

        Raises:
            LastAdministrator: the tenant would have no administrator left.
        """
        member = self._memberships.put(connection, tenant_id, user_id, role)
        details = {"user": user_id, "role": role.value}
        self._record(connection, "member.put", identity, tenant_id, origin, details)
        return member

    def join(
        self, connection: Connection, identity: Identity, tenant_id: str, role: Role, origin: Origin
    ) -> Member:
        """Make the caller a member within the transaction of a login, which a plugin allows.

        Raises:
            NotFound: there is no such tenant.
        """
        self._memberships.lock_tenant(connection, tenant_id)
        self._memberships.require_tenant(connection, tenant_id)
        return self.begin_membership(connection, identity, tenant_id, identity.user_id, role, origin)

    def _require_consent(
        self, connection: Connection, identity: Identity, tenant_id: str, user_id: str
    ) -> None:
        """Refuse to add a user who was not invited, as if there were none; see ``add_members``."""
        if self._adds_uninvited or identity.is_admin:
            return
        if self._memberships.role(connection, tenant_id, user_id) is None:
            raise NotFound("There is no such member; invite the user.")

    def remove_member(self, identity: Identity, tenant_id: str, user_id: str, origin: Origin) -> None:
        """Remove a member; a missing membership is not an error. Users may remove themselves.

        Grants, keys of this tenant alone, and open uploads and bundles in it end, too.

        Raises:
            Forbidden: the caller neither administers the tenant nor is the member to be removed.
            StepUpRequired: the tenant demands a stronger login.
            LastAdministrator: the tenant would have no administrator left.
        """
        with self._database.write() as connection:
            # Removing oneself succeeds for any tenant, so that it does not reveal whether it exists.
            if user_id != identity.user_id:
                self._memberships.require_admin(connection, tenant_id, identity)
            elif self._memberships.caller_role(connection, tenant_id, identity) is None:
                return
            self.end_membership(connection, identity, tenant_id, user_id, origin)

    def end_membership(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        user_id: str,
        origin: Origin,
    ) -> bool:
        """Remove a member within the caller's transaction, for callers who have checked that they may.

        Returns:
            Whether the membership existed.

        Raises:
            LastAdministrator: the tenant would have no administrator left.
        """
        if not self._memberships.remove(connection, tenant_id, user_id):
            return False
        cause = DeactivationCause.MEMBERSHIP_END
        self._deactivations.deactivate(connection, user_id, cause, tenant_id=tenant_id)
        self._record(connection, "member.remove", identity, tenant_id, origin, {"user": user_id})
        return True

    def _require_met(self, identity: Identity, changes: dict[str, Any]) -> None:
        """Require that the caller meets a new demand, so that administrators cannot lock themselves out.

        Server administrators need not, because they restore the access of others.
        """
        demand = make_demand(changes.get("required_acr"), changes.get("max_proof_age"))
        if demand and not identity.is_admin and not demand.is_met(identity, self._clock.now()):
            raise demand.refusal(identity)

    def hand_over(self, identity: Identity, tenant_id: str, to_user_id: str, origin: Origin) -> Member:
        """Make a member the administrator of the tenant in the caller's place.

        An administrator of the server who does not administer the tenant only adds the administrator,
        so that a tenant whose administrators are gone gets one.

        Raises:
            Forbidden: the caller administers neither the tenant nor the server.
            ValidationFailed: the caller is that member already.
            NotAMember: the user is not a member of the tenant.
        """
        if to_user_id == identity.user_id:
            raise ValidationFailed.of_field("toUserId", "same-user", "Must be another member.")
        with self._database.write() as connection:
            self._memberships.lock_tenant(connection, tenant_id)
            if not identity.is_admin:
                self._memberships.require_admin(connection, tenant_id, identity)
            if self._memberships.role(connection, tenant_id, to_user_id) is None:
                raise NotAMember.of_field("toUserId", "not-a-member", "Must be a member of the tenant.")
            member = self._memberships.put(connection, tenant_id, to_user_id, Role.ADMIN)
            if self._memberships.role(connection, tenant_id, identity.user_id) is Role.ADMIN:
                self._memberships.put(connection, tenant_id, identity.user_id, Role.MEMBER)
            details = {"user": identity.user_id, "toUser": to_user_id}
            self._record(connection, "tenant.transfer", identity, tenant_id, origin, details)
        return member

    def _change(
        self, connection: Connection, tenant_id: str, changes: dict[str, Any], revision: int | None
    ) -> None:
        current = _LOCK_REVISION.scalar(connection, {"tenant_id": tenant_id})
        if current is None:
            raise NotFound
        if revision is not None and revision != current:
            raise RevisionConflict
        now = self._clock.now()
        values = {**with_sort_key(changes), "updated_at": now, "revision": next_revision(current, now)}
        dynamic(update(tenants).where(tenants.c.id == tenant_id).values(values)).execute(connection)

    def _record(
        self,
        connection: Connection,
        action: str,
        identity: Identity,
        tenant_id: str,
        origin: Origin,
        details: dict[str, str] | None = None,
    ) -> None:
        event = AuditEvent(
            action,
            actor_id=identity.user_id,
            target_type="tenant",
            target_id=tenant_id,
            origin=origin,
            details=details or {},
        )
        self._audit.record(connection, event)
