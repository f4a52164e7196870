"""Members of tenants and their roles, within the caller's transaction."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    case,
    delete,
    func,
    or_,
    select,
)

from strongroom.clock import Clock
from strongroom.content.tenants.models import (
    TENANT,
    Member,
    Role,
    Tenant,
    tenant_members,
    tenants,
)
from strongroom.foundation.assurance import Demand, make_demand
from strongroom.foundation.caller import Identity
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.rows import RowMapper, get_columns
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import Forbidden, LastAdministrator, NotFound
from strongroom.identity.users.models import UserType
from strongroom.identity.users.service import type_of_active


def _is_tenant(tenant: FromClause) -> ColumnElement[bool]:
    # This condition hides deleted tenants everywhere: they have no members until they are restored.
    return (tenant.c.id == bindparam("tenant_id")) & tenant.c.deleted_at.is_(None)


def _is_member(member: FromClause, tenant: FromClause) -> ColumnElement[bool]:
    return (member.c.tenant_id == tenant.c.id) & (member.c.user_id == bindparam("user_id"))


_OF_MEMBER: Final = (
    select(tenant_members.c.role, tenants.c.required_acr, tenants.c.max_proof_age)
    .join(tenants, _is_member(tenant_members, tenants))
    .where(_is_tenant(tenants))
)

_ROLES: Final = Statement(
    select(tenant_members.c.tenant_id, tenant_members.c.role)
    .join(tenants, tenants.c.id == tenant_members.c.tenant_id)
    .where(
        tenant_members.c.user_id == bindparam("user_id"),
        tenants.c.id.in_(bindparam("tenant_ids", expanding=True)),
        tenants.c.deleted_at.is_(None),
    ),
    tuple,
)
_ALL_ROLES: Final = Statement(
    select(tenant_members.c.tenant_id, tenant_members.c.role)
    .join(tenants, tenants.c.id == tenant_members.c.tenant_id)
    .where(tenant_members.c.user_id == bindparam("user_id"), tenants.c.deleted_at.is_(None)),
    tuple,
)
_IS_LIVE: Final = Statement(select(tenants.c.id).where(_is_tenant(tenants)))
_ROLE: Final = Statement(_OF_MEMBER, tuple)
_TENANT_OF_MEMBER: Final = Statement(
    _OF_MEMBER.with_only_columns(tenant_members.c.role, *tenants.c), tuple
)
_MEMBER: Final = RowMapper(Member, get_columns(Member, tenant_members))

# FOR NO KEY UPDATE: other transactions can still insert rows with a foreign key to the tenant.
_LOCK: Final = Statement(
    select(tenants.c.id).where(tenants.c.id == bindparam("tenant_id")).with_for_update(key_share=True)
)

_PUT: Final = Statement(
    for_each_dialect(
        tenant_members,
        lambda insert: insert.on_conflict_do_update(
            index_elements=[tenant_members.c.tenant_id, tenant_members.c.user_id],
            set_={"role": insert.excluded.role},
        ).returning(tenant_members.c.created_at),
    )
)
_OF_TENANT: Final = tenant_members.c.tenant_id == bindparam("tenant_id")
_IS_ADMIN: Final = tenant_members.c.role == Role.ADMIN.value
_REMOVE: Final = Statement(
    delete(tenant_members).where(_OF_TENANT, tenant_members.c.user_id == bindparam("user_id"))
)
_ANY_ADMINISTRATOR: Final = Statement(
    select(tenant_members.c.user_id).where(_OF_TENANT, _IS_ADMIN).limit(1)
)


def _only_administrator() -> Select[Any]:
    mine, other = tenant_members.alias(), tenant_members.alias()
    others = select(other.c.user_id).where(
        other.c.tenant_id == mine.c.tenant_id, other.c.user_id != mine.c.user_id
    )
    return (
        select(mine.c.tenant_id)
        .where(
            mine.c.user_id == bindparam("user_id"),
            mine.c.role == Role.ADMIN.value,
            mine.c.tenant_id.in_(select(tenants.c.id).where(tenants.c.deleted_at.is_(None))),
            others.exists(),
            ~others.where(other.c.role == Role.ADMIN.value).exists(),
        )
        .limit(1)
    )


# Built at the first execution, because building takes longer than importing this module.
_ONLY_ADMINISTRATOR: Final = Statement(lambda _: _only_administrator())


def _administrator() -> Select[Any]:
    # Members of a deleted tenant count: it may be restored, and its last events still concern them.
    administered = tenant_members.c.tenant_id == bindparam("tenant_id")
    is_own = administered & (tenant_members.c.user_id == bindparam("user_id")) & _IS_ADMIN
    of_tenant = select(tenant_members.c.user_id).where(is_own).exists()
    user_type = type_of_active(bindparam("user_id"))
    return select(user_type).where(
        user_type.is_not(None), or_(user_type == UserType.ADMIN.value, of_tenant)
    )


_ADMINISTRATOR: Final = Statement(lambda _: _administrator())


def administers_a_tenant(user_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that a user administers a tenant that is not deleted."""
    administered = tenant_members.alias("administered")
    return (
        select(administered.c.tenant_id)
        .join(tenants, tenants.c.id == administered.c.tenant_id)
        .where(
            administered.c.user_id == user_id,
            administered.c.role == Role.ADMIN.value,
            tenants.c.deleted_at.is_(None),
        )
        .exists()
    )


def membership() -> FromClause:
    """Return the subquery with the ``role`` of the member ``user_id`` of the tenant ``tenant_id``.

    The columns ``required_acr`` and ``max_proof_age`` are what the tenant demands of the member's login.
    """
    return _OF_MEMBER.subquery("membership")


class JoinedMembership(NamedTuple):
    """Tables of a query with the optional membership, and the columns of :func:`membership`.

    Args:
        tables: the tables of the query, of which each row stays even without a membership.
    """

    tables: FromClause
    role: ColumnElement[str]
    required_acr: ColumnElement[str | None]
    max_proof_age: ColumnElement[int | None]

    @property
    def columns(self) -> tuple[ColumnElement[Any], ...]:
        """The three columns, which are NULL without a membership."""
        return self[1:]


def join_membership(tables: FromClause, condition: ColumnElement[bool]) -> JoinedMembership:
    """Return tables joined with :func:`membership`, where a condition holds.

    SQLite would write the rows of the subquery to a temporary table first, at each execution.
    """
    tenant, member = tenants.alias("joined_tenant"), tenant_members.alias("joined_member")
    has_role = member.c.role.is_not(None)
    # Others must not find out what a tenant demands, because they may not know that it exists.
    required_acr = case((has_role, tenant.c.required_acr)).label("required_acr")
    max_proof_age = case((has_role, tenant.c.max_proof_age)).label("max_proof_age")
    joined = tables.outerjoin(tenant, _is_tenant(tenant) & condition)
    joined = joined.outerjoin(member, _is_member(member, tenant))
    return JoinedMembership(joined, member.c.role, required_acr, max_proof_age)


@dataclass(slots=True, eq=False, repr=False)
class Memberships:
    """Reads and changes the members of tenants.

    Args:
        on_wait: receives the seconds that a transaction has waited for the lock on its tenant.
    """

    _clock: Clock
    _on_wait: Callable[[float], None] = lambda _seconds: None

    def role(self, connection: Connection, tenant_id: str, user_id: str) -> Role | None:
        """Return a user's role in a tenant; ``None`` for non-members and for missing tenants."""
        return self._membership(connection, tenant_id, user_id)[0]

    def find_roles(
        self, connection: Connection, user_id: str, tenant_ids: Collection[str]
    ) -> dict[str, str]:
        """Return the roles of a user in tenants, by their ids."""
        return dict(_ROLES.all(connection, {"user_id": user_id, "tenant_ids": list(tenant_ids)}))

    def find_all_roles(self, connection: Connection, user_id: str) -> dict[str, str]:
        """Return the roles of a user in all tenants, by their ids."""
        return dict(_ALL_ROLES.all(connection, {"user_id": user_id}))

    def require_tenant(self, connection: Connection, tenant_id: str) -> None:
        """Require that a tenant exists, and is not deleted.

        Raises:
            NotFound: it does not.
        """
        if _IS_LIVE.scalar(connection, {"tenant_id": tenant_id}) is None:
            raise NotFound

    def require_member(self, connection: Connection, tenant_id: str, identity: Identity) -> Role:
        """Return the caller's role.

        Raises:
            Forbidden: the caller is not a member, whether or not the tenant exists.
            StepUpRequired, KeyNotAccepted: the tenant demands a stronger login.
        """
        role = self.caller_role(connection, tenant_id, identity)
        if role is None:
            raise Forbidden
        return role

    def find_tenant(
        self, connection: Connection, tenant_id: str, identity: Identity
    ) -> tuple[Role, Tenant]:
        """Return the caller's role and the tenant; raises as :meth:`require_member`."""
        row = None
        if identity.key is None or identity.key.covers_tenant(tenant_id):
            named = {"tenant_id": tenant_id, "user_id": identity.user_id}
            row = _TENANT_OF_MEMBER.first(connection, named)
        if row is None:
            raise Forbidden
        role, *values = row
        tenant = TENANT(values)
        self._require_met(tenant.demand, identity)
        return Role(role), tenant

    def require_admin(self, connection: Connection, tenant_id: str, identity: Identity) -> None:
        """Check that the caller is an administrator of the tenant.

        Raises:
            Forbidden: the caller is not, whether or not the tenant exists.
            StepUpRequired, KeyNotAccepted: the tenant demands a stronger login.
        """
        if self.caller_role(connection, tenant_id, identity) is not Role.ADMIN:
            raise Forbidden

    def administers(self, connection: Connection, tenant_id: str | None, user_id: str) -> bool:
        """Return whether a user is active, and administers the tenant or the server.

        Args:
            tenant_id: the tenant, which may be deleted; ``None``: only the server counts.
        """
        named = {"tenant_id": tenant_id, "user_id": user_id}
        return _ADMINISTRATOR.scalar(connection, named) is not None

    def lock_as_admin(self, connection: Connection, tenant_id: str, identity: Identity) -> None:
        """Lock the tenant for a change of its administrators; raises as :meth:`require_admin`."""
        # The lock comes first, so that the role cannot be taken away between its check and the commit.
        self.lock_tenant(connection, tenant_id)
        self.require_admin(connection, tenant_id, identity)

    def caller_role(self, connection: Connection, tenant_id: str, identity: Identity) -> Role | None:
        """Return the caller's role; ``None`` if the access key does not reach the tenant itself.

        Raises:
            StepUpRequired, KeyNotAccepted: the tenant demands a stronger login of its members.
        """
        if identity.key is not None and not identity.key.covers_tenant(tenant_id):
            return None
        role, demand = self._membership(connection, tenant_id, identity.user_id)
        self._require_met(demand, identity)
        return role

    def _require_met(self, demand: Demand | None, identity: Identity) -> None:
        if demand is not None and not demand.is_met(identity, self._clock.now()):
            raise demand.refusal(identity)

    def _membership(
        self, connection: Connection, tenant_id: str, user_id: str
    ) -> tuple[Role | None, Demand | None]:
        row = _ROLE.first(connection, {"tenant_id": tenant_id, "user_id": user_id})
        return (Role(row[0]), make_demand(row[1], row[2])) if row else (None, None)

    def page(self, connection: Connection, tenant_id: str, paging: Paging) -> Page[Member]:
        """Return a page of a tenant's members, oldest first."""
        ours = tenant_members.c.tenant_id == tenant_id
        oldest_first = (tenant_members.c.created_at, tenant_members.c.user_id)
        query = select(*_MEMBER.columns).where(ours).order_by(*oldest_first)
        count = select(func.count()).select_from(tenant_members).where(ours)
        return select_page(connection, query, count, paging, _MEMBER)

    def put(self, connection: Connection, tenant_id: str, user_id: str, role: Role) -> Member:
        """Add a member, or change a member's role.

        Raises:
            LastAdministrator: the tenant would have no administrator left.
        """
        self.lock_tenant(connection, tenant_id)
        row = {"tenant_id": tenant_id, "user_id": user_id, "role": role.value}
        created_at = _PUT.scalar(connection, {**row, "created_at": self._clock.now()})
        # Checked after the change: an error rolls it back.
        self._require_administrator(connection, tenant_id)
        return Member(user_id, role.value, created_at)

    def remove(self, connection: Connection, tenant_id: str, user_id: str) -> bool:
        """Remove a member, and return whether the membership existed.

        Raises:
            LastAdministrator: the tenant would have no administrator left.
        """
        self.lock_tenant(connection, tenant_id)
        removed = _REMOVE.execute(connection, {"tenant_id": tenant_id, "user_id": user_id})
        self._require_administrator(connection, tenant_id)
        return removed == 1

    def require_dispensable(self, connection: Connection, user_id: str) -> None:
        """Check that the user is not the only administrator of a tenant that has other members.

        Raises:
            LastAdministrator: the user is the only administrator of such a tenant.
        """
        tenant_id = _ONLY_ADMINISTRATOR.scalar(connection, {"user_id": user_id})
        if tenant_id is not None:
            raise LastAdministrator(f"Appoint another administrator of the tenant {tenant_id} first.")

    def lock_tenant(self, connection: Connection, tenant_id: str) -> None:
        """Block concurrent changes of the tenant's members and files until this transaction ends.

        Otherwise two transactions might each remove one of the last two administrators, or each move a
        folder into the other's. Must be called before reading anything that the change depends on.
        """
        # SQLite has only one writer at a time.
        if connection.dialect.name == "postgresql":
            began = perf_counter()
            _LOCK.first(connection, {"tenant_id": tenant_id})
            self._on_wait(perf_counter() - began)

    def _require_administrator(self, connection: Connection, tenant_id: str) -> None:
        if _ANY_ADMINISTRATOR.scalar(connection, {"tenant_id": tenant_id}) is None:
            raise LastAdministrator
